import { beforeEach, describe, expect, test } from "vitest";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { type LedgerAtNoon, openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { aSellingService } from "../../../builders/service/selling-service.ts";

/**
 * Goal: an order is sent within what its answer said, and 40 seconds more, also by an instance that did not get the
 * 429. Source: docs/interface.md 8.9. Method: the sender runs each minute, this many seconds after the 429; a run within
 * the limit's time ends at once, because what is left of the limit is longer than the run.
 */
const TOLERANCE_S = 40;
const LIMIT_S = 30;

let ledger: LedgerAtNoon;
beforeEach(async () => {
  ledger = await openLedgerAtNoon();
});

const saidS = ({ headers }: { readonly headers?: Readonly<Record<string, string>> }): number =>
  Number(headers?.["x-estimated-delivery"]);

describe.each([
  ["has run a minute ago", true],
  ["has not run for long", false],
])("while the sender %s", (_name, hasRun) => {
  test.each([1, 31, 45, 59])(
    "an order that an instance makes wait which did not get the 429 is sent within its estimate, if the next run comes %i s later",
    async (nextRunS) => {
      const service = await aSellingService(ledger);
      const [first, second] = [await ledger.anAccount(1_000), await ledger.anAccount(1_000)];
      if (hasRun) {
        service.refuse(1);
        await service.buy(await ledger.anAccount(1_000), "before");
        ledger.nowMs += 2 * MINUTE_MS;
        expect(await service.sendAfter(nextRunS * 1_000)).toMatchObject({ sent: 1 });
        ledger.nowMs += MINUTE_MS - nextRunS * 1_000;
      }
      const refusedAtMs = ledger.nowMs;
      service.refuse(1, LIMIT_S);
      const said = { refused: saidS(await service.buy(first, "one")), other: saidS(await service.buy(second, "one")) };
      for (let runS = nextRunS; service.arrived().length < (hasRun ? 3 : 2); runS += 60) {
        ledger.nowMs = refusedAtMs + runS * 1_000;
        // A run that sends nothing leaves a refusal.
        service.simulator.state.faults.clear();
        if (runS < LIMIT_S) service.refuse(1, LIMIT_S - runS);
        await service.sendAfter(0);
      }
      const tookS = (ledger.nowMs - refusedAtMs) / 1_000;
      for (const estimate of [said.refused, said.other]) {
        expect(tookS).toBeLessThanOrEqual(estimate + TOLERANCE_S);
        expect(estimate).toBeGreaterThanOrEqual(LIMIT_S);
      }
    },
  );
});

test("an order that waits behind others of its account, in an instance that knows of no limit, says when the next run comes", async () => {
  const service = await aSellingService(ledger);
  const accountId = await ledger.anAccount(5_000);
  const idle = service.instance();
  await service.buy(await ledger.anAccount(1_000), "before", idle);
  service.refuse(1);
  await service.buy(accountId, "one");
  // Its reading of the pace is older than the 429.
  const response = await service.buy(accountId, "two", idle);
  expect(saidS(response)).toBeGreaterThanOrEqual(60);
});

test("the estimate of each order of a burst counts those of its account ahead of it", async () => {
  const service = await aSellingService(ledger);
  const accountId = await ledger.anAccount(100_000);
  service.refuse(1);
  const instance = service.instance();
  const said: number[] = [];
  for (let order = 0; order < 5; order += 1) said.push(saidS(await service.buy(accountId, `order-${order}`, instance)));
  expect(said).toEqual([61, 62, 63, 64, 65]);
});
