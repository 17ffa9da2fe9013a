import { beforeAll, describe, expect, test } from "vitest";
import * as z from "#zod";
import {
  BATCH_KEYS_MAX,
  BATCHES_AT_ONCE,
  getItemBatches,
  getItems,
  keyBatches,
} from "../../../../shared/ledger/get-item.ts";
import { sleep } from "../../../../shared/platform/time.ts";
import { faultyLedgerForTests, TRIES } from "../../../builders/ledger/faulty-ledger.ts";

/** Goal: a batch that DynamoDB is too busy for is read all the same. */
const ledger = await faultyLedgerForTests();
beforeAll(async () => {
  for (const pk of ["one", "two"]) await ledger.db.put({ TableName: ledger.table, Item: { pk } });
});

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

test("a key that a lagging index lists twice is read once: DynamoDB refuses a batch with duplicate keys", async () => {
  const keys = [{ pk: "one" }, { pk: "two" }, { pk: "one" }];
  expect(await getItems(ledger, keys, item)).toEqual([{ pk: "one" }, { pk: "two" }]);
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

describe("many keys", () => {
  const keys = Array.from({ length: 12 * BATCH_KEYS_MAX + 1 }, (_, index) => ({ pk: `many-${index}` }));
  const isIn = (body: string, batch: number): boolean => body.includes(`"many-${batch * BATCH_KEYS_MAX}"`);
  beforeAll(async () => {
    for (let start = 0; start < keys.length; start += 25) {
      const puts = keys.slice(start, start + 25).map(({ pk }) => ({
        PutRequest: { Item: { pk, status: "success", description: `about ${pk}` } },
      }));
      await ledger.db.batchWrite({ RequestItems: { [ledger.table]: puts } });
    }
  });

  test("items come in the keys' order although the first batch is throttled and others are not", async () => {
    const seen = throttleFirst(1);
    expect(await getItems(ledger, keys, item)).toEqual(keys);
    expect(seen.calls).toBe(13 + TRIES);
  });

  test("batches are read strongly, with the attributes that the schema has, and no others", async () => {
    const bodies: string[] = [];
    ledger.proxy.fault = ({ body }) => void bodies.push(body);
    const schema = z.object({ pk: z.string(), status: z.string() });
    let batches = 0;
    for await (const { keys: read, items } of getItemBatches(ledger, keyBatches(keys), schema)) {
      expect(items).toEqual(read.map(({ pk }) => ({ pk, status: "success" })));
      batches += 1;
    }
    expect(batches).toBe(13);
    expect(bodies.every((body) => body.includes('"ConsistentRead":true'))).toBe(true);
    expect(bodies.every((body) => body.includes('"ProjectionExpression":"#0, #1"'))).toBe(true);
  });

  test("a batch that cannot be read ends the whole, and no further batch is read", async () => {
    const read = new Set<number>();
    ledger.proxy.fault = ({ body }) => {
      for (let batch = 0; batch < 13; batch += 1) if (isIn(body, batch)) read.add(batch);
      return isIn(body, 2) ? "never_arrives" : undefined;
    };
    await expect(getItems(ledger, keys, item)).rejects.toThrow();
    // The first two, and those that were under way when the third one's turn came.
    await sleep(50);
    expect(read.size).toBeLessThanOrEqual(2 + BATCHES_AT_ONCE);
  });
});
