import { randomUUID } from "node:crypto";
import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { QueryCommand, type TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { proxyForTests } from "../builders/dynamodb/proxy-for-tests.ts";
import { emulatorClient, freshTables } from "../builders/dynamodb/tables.ts";
import type { StrictTime } from "./dynamodb.ts";
import { type StrictSettings, strictSettings } from "./settings.ts";

/** Goal: the strict layer behaves as AWS documents, so that what holds on it can be expected to hold on AWS. */
const proxy = await proxyForTests();
const db = emulatorClient(proxy.endpoint);
const { ledgerTable: table } = await freshTables();

const SEED = 20_261_121;
/** No holds, no lag and no chance: a test adds the one thing that it is about. */
const still: StrictSettings = {
  ...strictSettings.everything,
  holdMs: { min: 0, max: 0 },
  foreignHolds: 0,
  cancelledBindsToken: false,
  lagMaxMs: 0,
  throttling: 0,
  lostAnswers: 0,
  slowAnswers: 0,
};
const beStrict = (changes: Partial<StrictSettings>, time?: StrictTime) =>
  proxy.beStrict({ ...still, ...changes }, SEED, time);

/** No hold of a foreign transaction ends between its beginning and the check of it. */
const timeless: StrictTime = { now: () => 0, sleep: async () => {} };

/** The next transaction takes its items, and holds them until it is released. */
const holdUntilReleased = () => {
  const [taken, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const sleep = (): Promise<void> => {
    taken.resolve();
    return released.promise;
  };
  beStrict({ holdMs: { min: 1, max: 1 } }, { now: () => Date.now(), sleep });
  return { taken: taken.promise, release: released.resolve };
};

const newPk = (): string => `item#${randomUUID()}`;
const put = (Item: { readonly pk: string } & Record<string, unknown>) => ({ Put: { TableName: table, Item } });
const increment = (pk: string, by = 1, ConditionExpression?: string) => ({
  Update: {
    TableName: table,
    Key: { pk },
    UpdateExpression: "ADD #count :by",
    ExpressionAttributeNames: { "#count": "count" },
    ExpressionAttributeValues: { ":by": by },
    ...(ConditionExpression && { ConditionExpression }),
  },
});
type Items = ConstructorParameters<typeof TransactWriteCommand>[0]["TransactItems"];
const transact = (TransactItems: Items, ClientRequestToken?: string) =>
  db.transactWrite({ TransactItems, ClientRequestToken });
const countOf = async (pk: string): Promise<unknown> =>
  (await db.get({ TableName: table, Key: { pk }, ConsistentRead: true })).Item?.count;
const nameOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error: unknown) => (error instanceof Error ? error.name : String(error)),
  );
const reasonsOf = async (work: Promise<unknown>): Promise<readonly (string | undefined)[]> => {
  const error = await work.catch((thrown: unknown) => thrown);
  if (!(error instanceof TransactionCanceledException)) throw error;
  return (error.CancellationReasons ?? []).map(({ Code }) => Code);
};

describe("a transaction that holds its items", () => {
  test("a transaction that holds its items cancels another one with TransactionConflict for the held item, and the other items keep their reasons", async () => {
    const { taken, release } = holdUntilReleased();
    const [held, free, full] = [newPk(), newPk(), newPk()];
    await db.put({ TableName: table, Item: { pk: full } });
    const first = transact([increment(held)]);
    await taken;
    const writes = [
      increment(free),
      increment(held),
      { Put: { TableName: table, Item: { pk: full }, ConditionExpression: "attribute_not_exists(pk)" } },
    ];
    expect(await reasonsOf(transact(writes))).toEqual(["None", "TransactionConflict", "ConditionalCheckFailed"]);
    release();
    await first;
    expect([await countOf(held), await countOf(free)]).toEqual([1, undefined]);
    expect(await nameOf(transact([increment(held)]))).toBe("done");
  });

  test("a transaction that holds its items refuses a single write of a held item with TransactionConflictException, and no read", async () => {
    const { taken, release } = holdUntilReleased();
    const pk = newPk();
    const first = transact([increment(pk)]);
    await taken;
    expect(await nameOf(db.update(increment(pk).Update))).toBe("TransactionConflictException");
    expect(await nameOf(db.get({ TableName: table, Key: { pk }, ConsistentRead: true }))).toBe("done");
    release();
    await first;
    expect(await nameOf(db.update(increment(pk).Update))).toBe("done");
    expect(await countOf(pk)).toBe(2);
  });

  test("a write meets a transaction of another client as often as the share in the settings", async () => {
    const strict = beStrict({ holdMs: { min: 1, max: 1 }, foreignHolds: 0.5 }, timeless);
    const names: string[] = [];
    for (let index = 0; index < 40; index += 1) names.push(await nameOf(transact([increment(newPk())])));
    expect(strict.counts.conflict).toBeGreaterThan(10);
    expect(names.filter((name) => name === "TransactionCanceledException")).toHaveLength(strict.counts.conflict);
  });
});

describe("a token", () => {
  test("a token with the same parameters has no second effect within ten minutes, and has one afterwards", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      const strict = beStrict({});
      const [pk, token] = [newPk(), randomUUID()];
      await transact([increment(pk)], token);
      await transact([increment(pk)], token);
      expect(await countOf(pk)).toBe(1);
      expect(strict.counts.token_replayed).toBe(1);
      vi.setSystemTime(Date.now() + 601_000);
      await transact([increment(pk)], token);
      expect(await countOf(pk)).toBe(2);
    } finally {
      vi.useRealTimers();
    }
  });

  test("a token with other parameters is an IdempotentParameterMismatchException", async () => {
    beStrict({});
    const [pk, token] = [newPk(), randomUUID()];
    await transact([increment(pk)], token);
    expect(await nameOf(transact([increment(pk, 2)], token))).toBe("IdempotentParameterMismatchException");
    expect(await countOf(pk)).toBe(1);
  });

  test.each([
    [true, "IdempotentParameterMismatchException"],
    [false, "done"],
  ])("a token whose request was cancelled is bound to its parameters: %s", async (cancelledBindsToken, other) => {
    beStrict({ cancelledBindsToken });
    const [pk, token] = [newPk(), randomUUID()];
    const cancelled = [increment(pk, 1, "attribute_exists(pk)")];
    expect(await nameOf(transact(cancelled, token))).toBe("TransactionCanceledException");
    await db.put({ TableName: table, Item: { pk } });
    expect(await nameOf(transact([increment(pk, 5)], token))).toBe(other);
    const again = await nameOf(transact(cancelled, token));
    expect(again).toBe(cancelledBindsToken ? "done" : "IdempotentParameterMismatchException");
  });

  test("a token whose first request is in progress is a TransactionInProgressException", async () => {
    const { taken, release } = holdUntilReleased();
    const [pk, token] = [newPk(), randomUUID()];
    const first = transact([increment(pk)], token);
    await taken;
    expect(await nameOf(transact([increment(pk)], token))).toBe("TransactionInProgressException");
    release();
    await first;
    await transact([increment(pk)], token);
    expect(await countOf(pk)).toBe(1);
  });
});

describe("lag", () => {
  const listKey = (): string => `list#${randomUUID()}`;
  const query = (of: string, more: Partial<ConstructorParameters<typeof QueryCommand>[0]> = {}) =>
    new QueryCommand({
      TableName: table,
      IndexName: "by_list",
      KeyConditionExpression: "list_key = :list AND created_at BETWEEN :from AND :to",
      ExpressionAttributeValues: { ":list": of, ":from": "2026", ":to": "2027" },
      ...more,
    });
  const found = async (of: string): Promise<unknown[]> => ((await db.send(query(of))).Items ?? []).map(({ pk }) => pk);
  const at = (minute: number): string => `2026-11-21T12:${String(minute).padStart(2, "0")}:00.000Z`;

  /** Everything lags as far as it may, which a test ends by letting that time pass. */
  const withLag = async (work: (pass: () => void) => Promise<void>): Promise<void> => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      beStrict({ lagMaxMs: 60_000 });
      await work(() => vi.setSystemTime(Date.now() + 60_001));
    } finally {
      vi.useRealTimers();
    }
  };

  test("an index that lags lacks a new item for a while, and still has one that left it", () =>
    withLag(async (pass) => {
      const [of, pk] = [listKey(), newPk()];
      await db.put({ TableName: table, Item: { pk, list_key: of, created_at: at(1) } });
      expect(await found(of)).toEqual([]);
      pass();
      expect(await found(of)).toEqual([pk]);
      const leave = { TableName: table, Key: { pk }, UpdateExpression: "REMOVE list_key" };
      await db.update(leave);
      expect(await found(of)).toEqual([pk]);
      pass();
      expect(await found(of)).toEqual([]);
    }));

  test("an index that lags and a read without ConsistentRead show the former image of a changed item", () =>
    withLag(async (pass) => {
      const [pk, reference] = [newPk(), randomUUID()];
      await transact([put({ pk, upstream_reference: reference, status: "processing" })]);
      pass();
      const change = { TableName: table, Key: { pk }, UpdateExpression: "SET #status = :success" };
      const Update = {
        ...change,
        ExpressionAttributeNames: { "#status": "status" },
        ExpressionAttributeValues: { ":success": "success" },
      };
      await transact([{ Update }]);
      const byReference = new QueryCommand({
        TableName: table,
        IndexName: "by_upstream_reference",
        KeyConditionExpression: "upstream_reference = :reference",
        ExpressionAttributeValues: { ":reference": reference },
      });
      const statuses = async () => {
        const [indexed] = (await db.send(byReference)).Items ?? [];
        const weak = await db.get({ TableName: table, Key: { pk } });
        const strong = await db.get({ TableName: table, Key: { pk }, ConsistentRead: true });
        return [indexed?.status, weak.Item?.status, strong.Item?.status];
      };
      expect(await statuses()).toEqual(["processing", "processing", "success"]);
      pass();
      expect(await statuses()).toEqual(["success", "success", "success"]);
    }));

  test("two writes to one item become visible in their order", () =>
    withLag(async (pass) => {
      const pk = newPk();
      const seen: unknown[] = [];
      for (let count = 1; count <= 5; count += 1) {
        await db.put({ TableName: table, Item: { pk, count } });
        vi.setSystemTime(Date.now() + 7_000);
        seen.push((await db.get({ TableName: table, Key: { pk } })).Item?.count ?? 0);
      }
      pass();
      seen.push((await db.get({ TableName: table, Key: { pk } })).Item?.count);
      expect(seen).toEqual(seen.toSorted((one, other) => Number(one) - Number(other)));
      expect(seen.at(-1)).toBe(5);
    }));

  test.each([true, false])(
    "the pages of an index that lags have every item once, in order (forward: %s)",
    (ScanIndexForward) =>
      withLag(async (pass) => {
        const of = listKey();
        const pks = Array.from({ length: 7 }, (_, index) => `${newPk()}-${index}`);
        const write = (pk: string, index: number) =>
          db.put({ TableName: table, Item: { pk, list_key: of, created_at: at(Math.floor(index / 2)) } });
        for (const [index, pk] of pks.entries()) await write(pk, index);
        pass();
        const expected = ((await db.send(query(of, { ScanIndexForward }))).Items ?? []).map(({ pk }) => pk);
        expect(expected).toHaveLength(7);
        // From here on the index shows items as they were: one is about to leave it, and one more to come.
        await db.put({ TableName: table, Item: { pk: pks[3] } });
        await write(newPk(), 3);
        const pages: string[] = [];
        let ExclusiveStartKey: Record<string, unknown> | undefined;
        do {
          const asked = { ProjectionExpression: "#0", ExpressionAttributeNames: { "#0": "pk" } };
          const page = await db.send(query(of, { ScanIndexForward, Limit: 2, ExclusiveStartKey, ...asked }));
          expect(page.Items?.flatMap((item) => Object.keys(item))).toEqual(page.Items?.map(() => "pk"));
          pages.push(...(page.Items ?? []).map(({ pk }) => String(pk)));
          ExclusiveStartKey = page.LastEvaluatedKey;
        } while (ExclusiveStartKey !== undefined);
        // The order of items of the same moment is the emulator's own.
        expect(new Set(pages)).toEqual(new Set(expected));
        const times = pages.map((pk) => Math.floor(pks.indexOf(pk) / 2));
        const inOrder = times.toSorted((one, other) => (ScanIndexForward ? one - other : other - one));
        expect(times).toEqual(inOrder);
        expect(pages).toHaveLength(expected.length);
      }),
  );

  test("a query of an index for a key that is empty or too long is refused, which the emulator answers", async () => {
    beStrict({});
    for (const key of ["", "x".repeat(2_049), "\u00e9".repeat(1_025)]) {
      expect(await nameOf(db.send(query(key)))).toBe("ValidationException");
    }
    const ExclusiveStartKey = { pk: "", list_key: "o", created_at: at(1) };
    expect(await nameOf(db.send(query("o", { ExclusiveStartKey })))).toBe("ValidationException");
    expect((await db.send(query("x".repeat(2_048)))).Items).toEqual([]);
  });

  test("a query that the layer cannot evaluate under lag is refused and recorded", async () => {
    const strict = beStrict({ lagMaxMs: 60_000 });
    await db.put({ TableName: table, Item: { pk: newPk(), list_key: "o", created_at: at(1) } });
    const filtered = query("o", { FilterExpression: "attribute_exists(pk)" });
    expect(await nameOf(db.send(filtered))).toBe("ValidationException");
    expect(await nameOf(db.send(query("o", { ProjectionExpression: "phone_number" })))).toBe("ValidationException");
    expect(await nameOf(db.scan({ TableName: table }))).toBe("ValidationException");
    expect(strict.notSimulated).toHaveLength(3);
  });
});

describe("throttling", () => {
  const always = { throttling: 1, throttledMs: { min: 10_000, max: 10_000 } };

  test("throttling refuses single calls by an exception and transactions by ThrottlingError, and nothing is written", async () => {
    const strict = beStrict(always);
    const pk = newPk();
    const names = [await nameOf(db.put({ TableName: table, Item: { pk } }))];
    names.push(await nameOf(db.get({ TableName: table, Key: { pk } })));
    for (const name of names) expect(["ThrottlingException", "ProvisionedThroughputExceededException"]).toContain(name);
    expect(await reasonsOf(transact([put({ pk }), put({ pk: newPk() })]))).toContain("ThrottlingError");
    expect(strict.counts.throttled).toBeGreaterThanOrEqual(5);
    proxy.strict = undefined;
    expect((await db.get({ TableName: table, Key: { pk }, ConsistentRead: true })).Item).toBeUndefined();
  });

  test("throttling of some keys of a batch names them as unprocessed, and of all keys refuses the batch", async () => {
    const pks = [newPk(), newPk(), newPk(), newPk()];
    proxy.strict = undefined;
    for (const pk of pks) await db.put({ TableName: table, Item: { pk } });
    const strict = beStrict({ throttling: 0.1, throttledMs: { min: 60_000, max: 60_000 } });
    const Keys = pks.map((pk) => ({ pk }));
    const seen = new Set<number>();
    for (let round = 0; round < 60; round += 1) {
      const RequestItems = { [table]: { Keys, ConsistentRead: true } };
      try {
        const { Responses, UnprocessedKeys } = await db.batchGet({ RequestItems });
        const left = UnprocessedKeys?.[table]?.Keys ?? [];
        expect(new Set([...(Responses?.[table] ?? []), ...left].map(({ pk }) => pk))).toEqual(new Set(pks));
        seen.add(left.length);
      } catch {
        seen.add(pks.length);
        break;
      }
    }
    expect(seen.size).toBeGreaterThan(1);
    expect(seen).toContain(pks.length);
    expect(strict.notSimulated).toEqual([]);
  });

  test("throttling ends when its time is over, and calm() begins no other", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const strict = beStrict({ throttling: 1, throttledMs: { min: 60_000, max: 60_000 } });
    const write = () => nameOf(db.put({ TableName: table, Item: { pk: "item#throttled" } }));
    expect(await write()).not.toBe("done");
    strict.calm();
    expect(await write()).not.toBe("done");
    vi.setSystemTime(Date.now() + 60_001);
    expect(await write()).toBe("done");
  });
});

test("a write whose answer is lost has its effect, holds its items, and keeps its token in progress until they are free", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const strict = beStrict({ lostAnswers: 1, lingerMs: { min: 60_000, max: 60_000 } });
  const [pk, token] = [newPk(), randomUUID()];
  // The SDK's second attempt has the token of the first, and its answer is lost too.
  expect(await nameOf(transact([increment(pk)], token))).toBe("TimeoutError");
  expect(strict.counts).toMatchObject({ answer_lost: 2, token_in_progress: 1 });
  strict.calm();
  expect(await countOf(pk)).toBe(1);
  expect(await nameOf(db.update(increment(pk).Update))).toBe("TransactionConflictException");
  expect(await nameOf(transact([increment(pk)], token))).toBe("TransactionInProgressException");
  vi.setSystemTime(Date.now() + 60_001);
  expect(await nameOf(transact([increment(pk)], token))).toBe("done");
  expect(await countOf(pk)).toBe(1);
});

test("an answer that is slow arrives, and a seed always makes the same decisions", async () => {
  const run = async (): Promise<readonly string[]> => {
    const changes = { slowAnswers: 0.3, slowMs: { min: 20, max: 40 }, foreignHolds: 0.3, holdMs: { min: 1, max: 1 } };
    const strict = beStrict(changes, timeless);
    const names: string[] = [];
    for (let index = 0; index < 20; index += 1) names.push(await nameOf(transact([increment(newPk())])));
    expect(strict.counts.answer_slow).toBeGreaterThan(0);
    return names;
  };
  const first = await run();
  expect(new Set(first).size).toBe(2);
  expect(await run()).toEqual(first);
});
