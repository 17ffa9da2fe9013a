import { afterAll, beforeAll, expect, test } from "vitest";
import { routes } from "../../shared/contract/routes.ts";
import { readWallet } from "../../shared/ledger/wallet.ts";
import { koboFromNaira } from "../../shared/platform/money.ts";
import { anOrder } from "../builders/service.ts";
import { transactionsOf } from "./invariants.ts";
import { leaveStage } from "./recovery.ts";
import { type AppEndpoint, openAppEndpoint, setStage } from "./stage.ts";
import { advance } from "./world/clock.ts";
import { openWorld, type World } from "./world/world.ts";

let world: World;
let endpoint: AppEndpoint;
beforeAll(async () => {
  world = await openWorld();
  endpoint = await openAppEndpoint();
  await world.strike("refresh-catalog");
});
afterAll(async () => {
  await endpoint.stop();
  await world.stop();
});

/** The queue hides the refund for so long, because the debit may still arrive. */
const REFUND_DELAY_MS = 60_000;

test("a debit that was made although its purchase was answered 502 is refunded 60 s later, and nothing goes upstream", async () => {
  const stage = await setStage(world, endpoint, 1_000);
  const { ledger, pump } = world;
  const balance = async () => (await readWallet(ledger, stage.accountId)).balance_kobo;
  let isDebitSent = false;
  world.plan = ({ place, name }) => {
    if (place !== "dynamodb") return undefined;
    if (name === "TransactWriteItems") isDebitSent = true;
    if (!isDebitSent) return undefined;
    return name === "TransactWriteItems" ? "answer_lost" : "never_arrives";
  };
  const answer = await world.call(routes.buyData, stage.keys.live, anOrder());
  world.plan = () => undefined;
  expect(answer).toMatchObject({ statusCode: 502, headers: { "x-error-code": "delivery_failed" } });

  advance(REFUND_DELAY_MS - 5_000);
  await pump.once();
  expect(await transactionsOf(stage)).toMatchObject([{ status: "processing" }]);
  expect(await balance()).toBe(koboFromNaira(500));

  advance(10_000);
  await pump.once();
  expect(await transactionsOf(stage)).toMatchObject([{ status: "failed" }]);
  expect(await balance()).toBe(koboFromNaira(1_000));
  expect(world.upstream.requests).toEqual([]);
  await leaveStage(stage);
});
