import { describe, expect, test } from "vitest";
import { catalogMemory } from "../../../../shared/catalog/catalog-memory.ts";
import { type Snapshot, snapshotOf } from "../../../../shared/catalog/snapshot.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { aCatalog } from "../../../builders/upstream/catalog.ts";

const older = snapshotOf(aCatalog(1), NOON_MS);
const newer = snapshotOf(aCatalog(2), NOON_MS + 3_600_000);

/** A memory of a table that can be filled, emptied and made to fail, and that counts its reads. */
const aMemory = (stored: Snapshot | undefined) => {
  const table = { stored, reads: 0, broken: false };
  const clock = { nowMs: NOON_MS };
  const read = async (): Promise<Snapshot | undefined> => {
    table.reads += 1;
    if (table.broken) throw new Error("The table cannot be read");
    return table.stored;
  };
  return { ...catalogMemory({ read }, () => clock.nowMs), table, clock };
};

test("within 60 s the table is read once for 100 requests", async () => {
  const { snapshot, plans, table, clock } = aMemory(older);
  for (let request = 0; request < 50; request += 1) {
    expect(await snapshot()).toBe(older);
    expect((await plans())?.plans.size).toBe(1);
    clock.nowMs += 1_199;
  }
  expect(clock.nowMs - NOON_MS).toBeLessThan(60_000);
  expect(table.reads).toBe(1);
});

test("a new catalog is served after 60 s, in the snapshot and in the plans, and not earlier", async () => {
  const { snapshot, plans, table, clock } = aMemory(older);
  await snapshot();
  table.stored = newer;
  clock.nowMs = NOON_MS + 59_999;
  expect([await snapshot(), (await plans())?.plans.size]).toEqual([older, 1]);
  clock.nowMs = NOON_MS + 60_000;
  expect([await snapshot(), (await plans())?.plans.size]).toEqual([newer, 2]);
  expect(table.reads).toBe(2);
});

test("plans have the time of the last refresh, also of one that changed nothing", async () => {
  const { plans, table, clock } = aMemory(older);
  expect((await plans())?.fetchedAtMs).toBe(NOON_MS);
  table.stored = snapshotOf(aCatalog(1), NOON_MS + 7_000);
  clock.nowMs = NOON_MS + 60_000;
  expect((await plans())?.fetchedAtMs).toBe(NOON_MS + 7_000);
});

test("a clock that is set back does not prolong the 60 s, and what is read then is kept", async () => {
  const { snapshot, table, clock } = aMemory(older);
  await snapshot();
  table.stored = newer;
  clock.nowMs = NOON_MS - 3_600_000;
  expect([await snapshot(), await snapshot(), table.reads]).toEqual([newer, newer, 2]);
});

test("a catalog that the table has lost is served from memory, and the table is read again after 60 s", async () => {
  const { snapshot, table, clock } = aMemory(older);
  await snapshot();
  table.stored = undefined;
  clock.nowMs = NOON_MS + 60_000;
  expect([await snapshot(), await snapshot(), table.reads]).toEqual([older, older, 2]);
});

describe("while the table cannot be read", () => {
  test("while the table cannot be read the copy in memory is served, and afterwards the new catalog", async () => {
    const { snapshot, plans, table, clock } = aMemory(older);
    await snapshot();
    table.broken = true;
    table.stored = newer;
    clock.nowMs = NOON_MS + 5 * 3_600_000;
    expect([await snapshot(), (await plans())?.plans.size]).toEqual([older, 1]);
    table.broken = false;
    expect(await snapshot()).toBe(newer);
  });

  test("without a copy in memory the table's error is thrown", async () => {
    const { snapshot, plans, table } = aMemory(older);
    table.broken = true;
    await expect(snapshot()).rejects.toThrow();
    await expect(plans()).rejects.toThrow();
  });
});

test("before the first refresh each request reads the table, so that the first catalog is served at once", async () => {
  const { snapshot, plans, table } = aMemory(undefined);
  expect([await snapshot(), await plans()]).toEqual([undefined, undefined]);
  expect(table.reads).toBe(2);
  table.stored = older;
  expect((await plans())?.plans.size).toBe(1);
});

test("a catalog that was deleted from the table stays in memory", async () => {
  const { snapshot, table, clock } = aMemory(older);
  await snapshot();
  table.stored = undefined;
  clock.nowMs = NOON_MS + 60_000;
  expect(await snapshot()).toBe(older);
});

test("a read whose answer comes late is as old as its request: the next request reads the table again", async () => {
  const clock = { nowMs: NOON_MS };
  const answers = [Promise.withResolvers<Snapshot>(), Promise.withResolvers<Snapshot>()];
  let reads = 0;
  const { snapshot } = catalogMemory({ read: async () => answers[reads++]?.promise }, () => clock.nowMs);
  const frozen = snapshot();
  clock.nowMs = NOON_MS + 3_600_000;
  answers[0]?.resolve(older);
  expect(await frozen).toBe(older);
  answers[1]?.resolve(newer);
  expect(await snapshot()).toBe(newer);
});

test("an answer that arrives after the one to a later request does not replace it", async () => {
  const clock = { nowMs: NOON_MS };
  const answers = [Promise.withResolvers<Snapshot>(), Promise.withResolvers<Snapshot>()];
  let reads = 0;
  const { snapshot } = catalogMemory({ read: async () => answers[reads++]?.promise }, () => clock.nowMs);
  const overtaken = snapshot();
  clock.nowMs += 1;
  const later = snapshot();
  answers[1]?.resolve(newer);
  expect(await later).toBe(newer);
  answers[0]?.resolve(older);
  expect(await overtaken).toBe(newer);
  expect(await snapshot()).toBe(newer);
  expect(reads).toBe(2);
});
