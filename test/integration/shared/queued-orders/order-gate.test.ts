import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { beforeEach, describe, expect, test, vi } from "vitest";
import {
  PARTS_PK,
  type PurchasesStore,
  type PurchasesSwitch,
  readParts,
  readPurchasesSwitch,
  writePart,
  writePurchasesSwitch,
} from "../../../../shared/orders/purchases-switch.ts";
import { readUpstreamRefusals } from "../../../../shared/orders/upstream-refusal.ts";
import type { WithSdk } from "../../../../shared/platform/aws/sdk.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { orderGate } from "../../../../shared/queued-orders/order-gate.ts";
import {
  NO_ORDERS_QUEUED,
  noteQueue,
  readUpstreamPace,
  UPSTREAM_PACE_PK,
} from "../../../../shared/queued-orders/upstream-pace.ts";
import type { Outcome, UpstreamBlocks } from "../../../../shared/upstream/upstream.ts";
import { afterNext } from "../../../builders/dynamodb/another-process.ts";
import { proxyForTests } from "../../../builders/dynamodb/proxy-for-tests.ts";
import { emulatorClient, freshTables } from "../../../builders/dynamodb/tables.ts";
import { startScriptedServer } from "../../../builders/network/scripted-server.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import type { WireFault } from "../../../strict/faults.ts";

/** Goal: purchases that are switched off are off everywhere within 10 seconds, whatever happens to the reading. */
const proxy = await proxyForTests();
let store: PurchasesStore & WithSdk;
let nowMs: number;
let reads: number;
beforeEach(async () => {
  const { cacheTable } = await freshTables();
  store = { db: emulatorClient(proxy.endpoint), table: cacheTable, initially: "on" };
  nowMs = NOON_MS;
  reads = 0;
  countReads();
});

const countReads = (fault?: WireFault): void => {
  proxy.fault = ({ operation, body }) => {
    // A weak reading may be older than the change.
    if (operation.endsWith("GetItem")) expect(body).toContain('"ConsistentRead":true');
    if (operation !== "BatchGetItem") return undefined;
    reads += 1;
    return fault;
  };
};

const clock = () => nowMs;
const NO_BLOCKS: UpstreamBlocks = { limitUntilMs: 0, unrecognizedUntilMs: 0 };
const spentFor = (seconds: number): UpstreamBlocks => ({ ...NO_BLOCKS, limitUntilMs: nowMs + seconds * 1_000 });
const switched = (purchases: "on" | "off", atMs = nowMs): PurchasesSwitch => ({
  purchases,
  since: isoTime(atMs),
  by: "ada",
  why: "restore",
});

test("purchases that were never switched are on, or off where the stage adopts a ledger", async () => {
  expect(await readPurchasesSwitch({ ...store, initially: "off" })).toEqual({ purchases: "off" });
  expect(await orderGate(store, clock, "vtu").purchases()).toBe("on");
  expect(await orderGate({ ...store, initially: "off" }, clock, "vtu").purchases()).toBe("off");
});

test("what an operator switched holds, also where the stage adopts a ledger", async () => {
  const adopting: PurchasesStore = { ...store, initially: "off" };
  for (const purchases of ["off", "on"] as const) {
    await writePurchasesSwitch(store, switched(purchases));
    expect(await readPurchasesSwitch(store)).toEqual(switched(purchases));
    expect([
      await orderGate(store, clock, "vtu").purchases(),
      await orderGate(adopting, clock, "vtu").purchases(),
    ]).toEqual([purchases, purchases]);
  }
});

test.each([
  ["of a stage that was never switched", false],
  ["that was switched before", true],
])("a switch %s whose write lands late changes nothing that was switched since", async (_, isUsed) => {
  if (isUsed) await writePurchasesSwitch(store, switched("off", nowMs - 1_000));
  const lossy = vi.spyOn(store.db, "put").mockRejectedValue(new Error("No answer"));
  await expect(writePurchasesSwitch(store, switched("on"))).rejects.toThrow("No answer");
  const [lost] = lossy.mock.calls[0] ?? [];
  lossy.mockRestore();
  await writePurchasesSwitch(store, switched("off", nowMs + 1_000));
  if (lost === undefined) throw new Error("Nothing was written");
  await expect(store.db.put(lost)).rejects.toThrow(ConditionalCheckFailedException);
  expect(await readPurchasesSwitch(store)).toEqual(switched("off", nowMs + 1_000));
});

test.each<[string, () => Promise<unknown>]>([
  ["switch", () => writePurchasesSwitch(store, switched("off"))],
  ["part", () => writePart(store, "mtn", { since: isoTime(nowMs), by: "ada" }, "off")],
])("the write of a %s gives up when it has lost five races, and at once after any other failure", async (_, write) => {
  const overtaken = new ConditionalCheckFailedException({ message: "Another write came first", $metadata: {} });
  const put = vi.spyOn(store.db, "put").mockRejectedValue(overtaken);
  await expect(write()).rejects.toThrow("keeps changing");
  expect(put).toHaveBeenCalledTimes(5);
  put.mockRejectedValue(new Error("No answer"));
  await expect(write()).rejects.toThrow("No answer");
  expect(put).toHaveBeenCalledTimes(6);
});

test("a change takes effect 10 seconds after the last reading, and until then no call is made", async () => {
  const { purchases } = orderGate(store, clock, "vtu");
  expect(await purchases()).toBe("on");
  await writePurchasesSwitch(store, switched("off"));
  nowMs += 9_999;
  expect([await purchases(), await purchases(), reads]).toEqual(["on", "on", 1]);
  nowMs += 1;
  expect([await purchases(), await purchases(), reads]).toEqual(["off", "off", 2]);
});

test("a network or a kind is off within the same 10 seconds and by the same reading, and no other part changes", async () => {
  const { purchases } = orderGate(store, clock, "vtu");
  const parts = async () => [
    await purchases(["data", "vtu", "mtn"]),
    await purchases(["airtime", "vtu", "glo"]),
    await purchases(["nin_retrieval", "identity", undefined]),
    await purchases(),
  ];
  expect(await parts()).toEqual(["on", "on", "on", "on"]);
  const off = { since: isoTime(nowMs), by: "ada", why: "ticket 97" };
  expect(await Promise.all([writePart(store, "mtn", off, "off"), writePart(store, "identity", off, "off")])).toEqual([
    true,
    true,
  ]);
  expect(await writePart(store, "mtn", { ...off, by: "bola" }, "off")).toBe(false);
  expect((await readParts(store)).off).toEqual({ mtn: off, identity: off });
  const before = reads;
  expect([await parts(), reads]).toEqual([["on", "on", "on", "on"], before]);
  nowMs += 10_000;
  expect([await parts(), reads]).toEqual([["off", "on", "off", "on"], before + 1]);
  expect([await writePart(store, "mtn", off, "on"), await writePart(store, "mtn", off, "on")]).toEqual([true, false]);
  nowMs += 10_000;
  expect(await parts()).toEqual(["on", "on", "off", "on"]);
});

test.each([
  ["no part is off", []],
  ["a part is off", ["glo"]],
])("of two parts that are switched off at the same time while %s, both are off", async (_, before) => {
  const off = { since: isoTime(nowMs), by: "ada" };
  for (const part of before) await writePart(store, part, off, "off");
  afterNext(store.db, "get", () => writePart(store, "mtn", off, "off"));
  expect(await writePart(store, "identity", off, "off")).toBe(true);
  expect(new Set(Object.keys((await readParts(store)).off))).toEqual(new Set([...before, "identity", "mtn"]));
});

test("the 10 seconds begin before the reading, so that a slow response does not prolong them", async () => {
  const { purchases } = orderGate(store, clock, "vtu");
  proxy.fault = () => {
    nowMs = NOON_MS + 4_000;
    return undefined;
  };
  await purchases();
  countReads();
  await writePurchasesSwitch(store, switched("off"));
  nowMs = NOON_MS + 9_999;
  expect(await purchases()).toBe("on");
  nowMs = NOON_MS + 10_000;
  expect(await purchases()).toBe("off");
});

test("a clock that is set back does not prolong the 10 seconds", async () => {
  const gate = orderGate(store, clock, "vtu");
  expect(await gate.purchases()).toBe("on");
  await writePurchasesSwitch(store, switched("off"));
  nowMs -= 3_600_000;
  expect(await gate.purchases()).toBe("off");
});

test("a switch that cannot be read gives no answer, not even the previous one, once its 10 seconds are over", async () => {
  const { purchases } = orderGate(store, clock, "vtu");
  countReads("never_arrives");
  await expect(purchases()).rejects.toThrow();
  countReads();
  expect(await purchases()).toBe("on");
  nowMs += 10_000;
  countReads("never_arrives");
  await expect(purchases()).rejects.toThrow();
  countReads();
  expect(await purchases()).toBe("on");
});

test("a note of a spent limit that gets no answer leaves 5 seconds for the settlement of its order", async () => {
  const silent = await startScriptedServer(() => {});
  const deadline = deadlineIn(5_200);
  await orderGate({ ...store, db: emulatorClient(silent.baseUrl) }, clock, "vtu").noteBlocks(
    spentFor(60),
    NO_BLOCKS,
    deadline,
  );
  expect(silent.received).toHaveLength(1);
  // A busy machine takes some of it.
  expect(deadline.remainingMs()).toBeGreaterThan(2_000);
});

test("a part that is off is off, also if nobody can read since when", async () => {
  await store.db.put({ TableName: store.table, Item: { pk: PARTS_PK, version: 1, off: { mtn: "by hand" } } });
  expect(await orderGate(store, clock, "vtu").purchases(["mtn"])).toBe("off");
});

test("an item that is not a switch is an error, and neither on nor off", async () => {
  await writePurchasesSwitch(store, { ...switched("on"), since: "yesterday" });
  await expect(orderGate(store, clock, "vtu").purchases()).rejects.toThrow();
});

test("purchases that are off for more than an hour raise an alarm with each reading, others raise none", async () => {
  const log = captureLog();
  const readAfter = async (purchases: "on" | "off", sinceMs: number): Promise<void> => {
    await writePurchasesSwitch(store, switched(purchases, nowMs - sinceMs));
    await orderGate(store, clock, "vtu").purchases();
  };
  await readAfter("on", 7_200_000);
  await readAfter("off", 3_600_000);
  await orderGate({ ...store, table: (await freshTables()).cacheTable, initially: "off" }, clock, "vtu").purchases();
  expect(log.text()).toBe("");
  await readAfter("off", 3_600_001);
  const since = isoTime(nowMs - 3_600_001);
  expect(log.lines()).toMatchObject([{ level: "error", event: "purchases.still_off", since, Alarms: 1 }]);
  await writePurchasesSwitch(store, switched("on"));
  await writePart(store, "mtn", { since, by: "ada" }, "off");
  await writePart(store, "airtime", { since: isoTime(nowMs - 3_600_000), by: "ada" }, "off");
  expect(await orderGate(store, clock, "vtu").purchases(["mtn"])).toBe("off");
  expect(log.lines().slice(1)).toMatchObject([{ event: "purchases.part_still_off", part: "mtn", since }]);
});

test("a spent limit that one instance notes is known to the others with their next reading, and is never shortened", async () => {
  const log = captureLog();
  const [one, other] = [orderGate(store, clock, "vtu"), orderGate(store, clock, "vtu")];
  expect([other.pace(), other.blocks()]).toEqual([NO_ORDERS_QUEUED, NO_BLOCKS]);
  await other.purchases();
  await one.noteBlocks(spentFor(60), NO_BLOCKS, deadlineIn(9_000));
  await one.noteBlocks(spentFor(30), NO_BLOCKS, deadlineIn(9_000));
  expect(log.text()).toBe("");
  expect(other.pace()).toEqual(NO_ORDERS_QUEUED);
  nowMs += 10_000;
  expect(await other.purchases()).toBe("on");
  expect(other.pace()).toEqual({ ...NO_ORDERS_QUEUED, limit_until: isoTime(NOON_MS + 60_000) });
});

test("a pace that cannot be written fails no order, and one that cannot be read as one keeps none waiting", async () => {
  const gate = orderGate(store, clock, "vtu");
  const log = captureLog();
  proxy.fault = () => "never_arrives";
  await expect(gate.noteBlocks(spentFor(60), NO_BLOCKS, deadlineIn(9_000))).resolves.toBeUndefined();
  expect(log.lines()).toMatchObject([{ level: "warn", event: "upstream_pace.not_noted", error: expect.any(String) }]);
  countReads();
  const Item = { pk: UPSTREAM_PACE_PK, limit_until: "soon", queue_until: 1, queued_orders: -1, per_minute: 0 };
  await store.db.put({ TableName: store.table, Item });
  expect(await gate.purchases()).toBe("on");
  expect(gate.pace()).toEqual(NO_ORDERS_QUEUED);
});

test.each([
  ["text", "soon"],
  ["a number", 1],
  ["further ahead than a limit lasts", isoTime(NOON_MS + 3_600_000)],
])("a noted limit that is %s blocks nothing, and the next note replaces it", async (_name, limit_until) => {
  const Item = { pk: UPSTREAM_PACE_PK, limit_until };
  await store.db.put({ TableName: store.table, Item });
  const gate = orderGate(store, clock, "vtu");
  await gate.purchases();
  expect(gate.blocks().limitUntilMs).toBe(0);
  await gate.noteBlocks(spentFor(60), NO_BLOCKS, deadlineIn(9_000));
  nowMs += 10_000;
  await gate.purchases();
  expect(gate.blocks().limitUntilMs).toBe(NOON_MS + 60_000);
});

test("that the upstream answers again is written once, and not over a block that was noted since", async () => {
  const stopped = (untilMs: number): UpstreamBlocks => ({ ...NO_BLOCKS, unrecognizedUntilMs: untilMs });
  const [one, other] = [orderGate(store, clock, "vtu"), orderGate(store, clock, "vtu")];
  const [first, second] = [NOON_MS + 60_000, NOON_MS + 70_000];
  await one.noteBlocks(stopped(first), NO_BLOCKS, deadlineIn(9_000));
  await one.purchases();
  const before = one.blocks();
  expect(before).toEqual(stopped(first));
  await other.noteBlocks(stopped(second), NO_BLOCKS, deadlineIn(9_000));
  await one.noteBlocks(NO_BLOCKS, before, deadlineIn(9_000));
  proxy.calls.length = 0;
  await one.noteBlocks(NO_BLOCKS, one.blocks(), deadlineIn(9_000));
  // Nor is a block that has just ended.
  await one.noteBlocks({ limitUntilMs: nowMs, unrecognizedUntilMs: nowMs }, NO_BLOCKS, deadlineIn(9_000));
  expect(proxy.calls).toEqual([]);
  nowMs += 10_000;
  await one.purchases();
  expect(one.blocks()).toEqual(stopped(second));
  await one.noteBlocks(NO_BLOCKS, one.blocks(), deadlineIn(9_000));
  await other.purchases();
  expect(other.pace()).toEqual(NO_ORDERS_QUEUED);
});

test("what the sender notes of the queue is known with the next reading, and changes no block", async () => {
  expect(await readUpstreamPace(store)).toEqual(NO_ORDERS_QUEUED);
  const gate = orderGate(store, clock, "vtu");
  await gate.noteBlocks(spentFor(60), NO_BLOCKS, deadlineIn(9_000));
  const noted = { queue_until: isoTime(nowMs + 90_000), queued_orders: 3, per_minute: 50, next_run: isoTime(nowMs) };
  await noteQueue(store, noted);
  await gate.purchases();
  const pace = { ...NO_ORDERS_QUEUED, ...noted, limit_until: isoTime(nowMs + 60_000) };
  expect([gate.pace(), await readUpstreamPace(store)]).toEqual([pace, pace]);
});

test("what an instance notes of one block changes no other that it knows", async () => {
  const both = { limitUntilMs: nowMs + 30_000, unrecognizedUntilMs: nowMs + 60_000 };
  await orderGate(store, clock, "vtu").noteBlocks(both, NO_BLOCKS, deadlineIn(9_000));
  const gate = orderGate(store, clock, "vtu");
  const stored = async () => {
    const other = orderGate(store, clock, "vtu");
    await other.purchases();
    return other.blocks();
  };
  await gate.purchases();
  // The block still holds.
  await gate.noteBlocks(both, both, deadlineIn(9_000));
  expect([gate.blocks(), await stored()]).toEqual([both, both]);
  // An earlier one ended.
  await gate.noteBlocks(NO_BLOCKS, { ...both, unrecognizedUntilMs: nowMs + 59_000 }, deadlineIn(9_000));
  expect([gate.blocks(), await stored()]).toEqual([both, both]);
  await gate.noteBlocks(NO_BLOCKS, both, deadlineIn(9_000));
  const spent = { ...both, unrecognizedUntilMs: 0 };
  expect([gate.blocks(), await stored()]).toEqual([spent, spent]);
});

describe("the note of what the upstream does with orders", () => {
  const refused = { kind: "account_error", reason: "status_401" } as const;
  const delivered = { kind: "delivered" } as const;
  const standing = async () =>
    (await readUpstreamRefusals(store)).map(({ group, reason, since, refused_at }) => [
      group,
      reason,
      since,
      refused_at,
    ]);
  const writes = () => proxy.calls.filter(({ operation }) => operation === "UpdateItem").length;
  beforeEach(() => {
    proxy.calls.length = 0;
  });

  test("has the first and the last refusal, and ends with an order that another instance sends", async () => {
    const [one, other] = [orderGate(store, clock, "vtu"), orderGate(store, clock, "vtu")];
    await one.noteOutcome(refused, deadlineIn(9_000));
    nowMs += 120_000;
    await one.noteOutcome(refused, deadlineIn(9_000));
    expect(await standing()).toEqual([["vtu", "status_401", isoTime(NOON_MS), isoTime(nowMs)]]);
    await other.purchases();
    await other.noteOutcome(delivered, deadlineIn(9_000));
    expect(await standing()).toEqual([]);
  });

  test("costs no write while orders are accepted, and one a minute while they are refused", async () => {
    const gate = orderGate(store, clock, "vtu");
    await gate.purchases();
    for (let order = 0; order < 5; order += 1) await gate.noteOutcome(delivered, deadlineIn(9_000));
    expect(writes()).toBe(0);
    for (let order = 0; order < 5; order += 1) await gate.noteOutcome(refused, deadlineIn(9_000));
    expect(writes()).toBe(1);
    nowMs += 60_000;
    await gate.noteOutcome(refused, deadlineIn(9_000));
    expect(writes()).toBe(2);
    for (let order = 0; order < 5; order += 1) await gate.noteOutcome(delivered, deadlineIn(9_000));
    expect(writes()).toBe(3);
    const other = orderGate(store, clock, "vtu");
    await other.purchases();
    await other.noteOutcome(delivered, deadlineIn(9_000));
    expect(writes()).toBe(3);
    await gate.noteOutcome(refused, deadlineIn(9_000));
    expect(await standing()).toHaveLength(1);
  });

  test("keeps purchases and identity checks apart, because a key may lack the permission for one of them", async () => {
    const [vtu, identity] = [orderGate(store, clock, "vtu"), orderGate(store, clock, "identity")];
    await identity.noteOutcome({ kind: "account_error", reason: "status_403" }, deadlineIn(9_000));
    await vtu.purchases();
    await vtu.noteOutcome(delivered, deadlineIn(9_000));
    expect((await standing()).map(([group, reason]) => [group, reason])).toEqual([["identity", "status_403"]]);
  });

  test("ends with an order that the upstream has accepted and not yet delivered", async () => {
    const gate = orderGate(store, clock, "vtu");
    await gate.noteOutcome(refused, deadlineIn(9_000));
    await gate.noteOutcome({ kind: "unknown", reason: "processing" }, deadlineIn(9_000));
    expect(await standing()).toEqual([]);
  });

  test("is not ended by an order that was accepted before a later refusal", async () => {
    const [one, other] = [orderGate(store, clock, "vtu"), orderGate(store, clock, "vtu")];
    await one.noteOutcome(refused, deadlineIn(9_000));
    await other.purchases();
    nowMs += 60_000;
    await one.noteOutcome(refused, deadlineIn(9_000));
    const log = captureLog();
    await other.noteOutcome(delivered, deadlineIn(9_000));
    expect(log.text()).toBe("");
    expect(await standing()).toHaveLength(1);
  });

  test.for<[string, boolean, Outcome]>([
    ["the balance at the upstream is empty", true, { kind: "account_error", reason: "upstream_balance" }],
    ["the upstream cannot be reached", true, { kind: "account_error", reason: "ECONNREFUSED" }],
    ["something in front of the upstream answers", true, { kind: "unknown", reason: "unrecognized_403" }],
    ["the rate limit is spent", false, { kind: "account_error", reason: "rate_limited" }],
    ["the upstream limits this order", false, { kind: "account_error", reason: "order_limited" }],
    ["the order's turn was over", false, { kind: "account_error", reason: "turn_over" }],
    ["the request had no time left", false, { kind: "account_error", reason: "no_time" }],
    ["the answer is lost", false, { kind: "unknown", reason: "timeout" }],
    ["the order itself is refused", false, { kind: "refused", fields: ["plan_id"] }],
  ])("after an order for which %s, it says so: %s", async ([_why, isNoted, outcome]) => {
    const log = captureLog();
    await orderGate(store, clock, "vtu").noteOutcome(outcome, deadlineIn(9_000));
    expect(await standing()).toHaveLength(isNoted ? 1 : 0);
    expect(log.text()).toBe("");
  });

  test("fails no order if it cannot be written, and leaves the time for the settlement", async () => {
    const silent = await startScriptedServer(() => {});
    const log = captureLog();
    const answering = { ...store };
    const gate = orderGate(answering, clock, "vtu");
    await gate.noteOutcome(refused, deadlineIn(9_000));
    answering.db = emulatorClient(silent.baseUrl);
    for (const outcome of [{ kind: "account_error", reason: "status_403" }, delivered] as const) {
      const deadline = deadlineIn(9_000);
      await expect(gate.noteOutcome(outcome, deadline)).resolves.toBeUndefined();
      expect(deadline.remainingMs()).toBeGreaterThan(7_000);
    }
    expect(silent.received).toHaveLength(2);
    expect(log.lines("upstream_refusal.not_noted")).toHaveLength(2);
  });
});
