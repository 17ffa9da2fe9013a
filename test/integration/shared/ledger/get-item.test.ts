import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import * as z from "zod";
import { getItems } from "../../../../shared/ledger/get-item.ts";
import { type FaultyLedger, openFaultyLedger, TRIES } from "../../../builders/faulty-ledger.ts";

/** Goal: a batch that DynamoDB is too busy for is read all the same. */
let ledger: FaultyLedger;
beforeAll(async () => {
  ledger = await openFaultyLedger();
  for (const pk of ["one", "two"]) await ledger.db.send(new PutCommand({ TableName: ledger.table, Item: { pk } }));
});
beforeEach(() => ledger.reset());
afterAll(() => ledger.proxy.stop());

const item = z.object({ pk: z.string() });
const read = () => getItems(ledger, [{ pk: "one" }, { pk: "two" }], item);

/** The first `count` batch reads are throttled as a whole, with each of the SDK's tries. */
const throttleFirst = (count: number) => {
  const seen = { calls: 0 };
  ledger.proxy.fault = ({ operation }) => {
    if (operation !== "BatchGetItem") return undefined;
    seen.calls += 1;
    return seen.calls <= count * TRIES ? "throttled" : undefined;
  };
  return seen;
};

test("a batch read whose calls are throttled twice is made a third time", async () => {
  const seen = throttleFirst(2);
  expect(await read()).toEqual([{ pk: "one" }, { pk: "two" }]);
  expect(seen.calls).toBe(2 * TRIES + 1);
});

test("a batch read that stays throttled fails with the throttling after 3 seconds", async () => {
  throttleFirst(Number.POSITIVE_INFINITY);
  const begunMs = performance.now();
  await expect(read()).rejects.toThrow(expect.objectContaining({ name: "ThrottlingException" }));
  expect(performance.now() - begunMs).toBeGreaterThan(2_900);
});

test("a batch read that fails for another reason is not retried", async () => {
  const absent = getItems({ ...ledger, table: "no-table" }, [{ pk: "one" }], item);
  await expect(absent).rejects.toThrow(expect.objectContaining({ name: "ResourceNotFoundException" }));
});
