import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { HOUR_MS } from "../../../../shared/contract/values/durations.ts";
import type { Ledger } from "../../../../shared/ledger/ledger.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { readParkedEndpoint, scheduleRequeue } from "../../../../shared/webhooks/parked-endpoint.ts";
import { openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { firstEndpoint } from "../../../builders/webhooks/endpoint.ts";

/** Goal: a delivery that is parked is requeued when it is due, and of many only some write the item of their endpoint. */
const SECOND_MS = 1_000;
let ledger: Ledger;
beforeAll(async () => {
  ledger = await openLedgerAtNoon();
});

let endpoints = 0;
/** An endpoint without parked deliveries. Times count from noon, which it is. */
const anEndpoint = () => {
  endpoints += 1;
  const key = firstEndpoint(`acc_${endpoints}`);
  const times = async () => {
    const { listed_at, rest_due_at } = (await readParkedEndpoint(ledger, key)) ?? {};
    return [listed_at, rest_due_at].map((time) => (time === undefined ? undefined : Date.parse(time) - NOON_MS));
  };
  const schedule = async (afterMs: number) => {
    await scheduleRequeue(ledger, key, NOON_MS + afterMs);
    return times();
  };
  return { key, schedule, times };
};

test("a requeue is scheduled for the earliest of several times, if none is due yet", async () => {
  const { schedule } = anEndpoint();
  expect(await schedule(HOUR_MS)).toEqual([HOUR_MS, undefined]);
  expect(await schedule(HOUR_MS)).toEqual([HOUR_MS, undefined]);
  expect(await schedule(2 * HOUR_MS)).toEqual([HOUR_MS, undefined]);
  expect(await schedule(11 * SECOND_MS)).toEqual([11 * SECOND_MS, undefined]);
  expect(await schedule(HOUR_MS)).toEqual([11 * SECOND_MS, undefined]);
});

test("a requeue that may have read the list already gets the time too, written again only if it is a minute earlier", async () => {
  const { schedule } = anEndpoint();
  await schedule(10 * SECOND_MS);
  expect(await schedule(HOUR_MS)).toEqual([10 * SECOND_MS, HOUR_MS]);
  expect(await schedule(2 * HOUR_MS)).toEqual([10 * SECOND_MS, HOUR_MS]);
  expect(await schedule(HOUR_MS - 60 * SECOND_MS)).toEqual([10 * SECOND_MS, HOUR_MS]);
  expect(await schedule(HOUR_MS - 61 * SECOND_MS)).toEqual([10 * SECOND_MS, HOUR_MS - 61 * SECOND_MS]);
});

/** Before each of the next writes of the item another process schedules a requeue: one that is due, then later ones. */
const overtake = (times: number) => {
  const put = ledger.db.put.bind(ledger.db);
  let left = times;
  const overtaken = vi.spyOn(ledger.db, "put").mockImplementation(async (command) => {
    if (left > 0) {
      left -= 1;
      const { Item, TableName } = command;
      const other = {
        ...Item,
        listed_at: isoTime(NOON_MS - left),
        rest_due_at: isoTime(NOON_MS + (left + 2) * HOUR_MS),
      };
      await put({ TableName, Item: other });
    }
    return put(command);
  });
  onTestFinished(() => overtaken.mockRestore());
};

test("a requeue that another process schedules at the same time is not delayed, and gets the time too", async () => {
  const endpoint = anEndpoint();
  overtake(4);
  expect(await endpoint.schedule(HOUR_MS)).toEqual([0, HOUR_MS]);
});

test("an earlier time that another process adds to a requeue that is due stays", async () => {
  const { schedule, times } = anEndpoint();
  await schedule(0);
  await schedule(5 * HOUR_MS);
  const put = ledger.db.put.bind(ledger.db);
  const overtaken = vi.spyOn(ledger.db, "put").mockImplementationOnce(async (command) => {
    await put({ TableName: command.TableName, Item: { ...command.Item, rest_due_at: isoTime(NOON_MS + HOUR_MS) } });
    return put(command);
  });
  onTestFinished(() => overtaken.mockRestore());
  await schedule(2 * HOUR_MS);
  expect(await times()).toEqual([0, HOUR_MS]);
});

test("a requeue whose item another process keeps changing fails, so that the message stays in the queue", async () => {
  const endpoint = anEndpoint();
  overtake(5);
  await expect(endpoint.schedule(HOUR_MS)).rejects.toThrow("keeps changing");
  expect(await endpoint.times()).toEqual([0, 2 * HOUR_MS]);
});
