import { randomBytes } from "node:crypto";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { documentText } from "../../../../shared/call/prepared-document.ts";
import type { CatalogChange } from "../../../../shared/catalog/catalog-change.ts";
import { catalogStore } from "../../../../shared/catalog/catalog-store.ts";
import { acceptCandidate, refreshCatalog } from "../../../../shared/catalog/refresh-catalog.ts";
import { catalogOf, SELLABLE_AGE_MS_MAX, snapshotOf } from "../../../../shared/catalog/snapshot.ts";
import type { Catalog } from "../../../../shared/contract/catalog.ts";
import { catalogUpdated } from "../../../../shared/contract/openapi/openapi-webhooks.ts";
import { HOUR_MS } from "../../../../shared/contract/values/durations.ts";
import { subscriptionPk } from "../../../../shared/ledger/schema.ts";
import { type Deadline, deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { httpUpstream } from "../../../../shared/upstream/http-upstream.ts";
import type { DeliveryMessage } from "../../../../shared/webhooks/delivery-queue.ts";
import { enqueueCatalogUpdated } from "../../../../shared/webhooks/enqueue-catalog-updated.ts";
import { accountEventId } from "../../../../shared/webhooks/webhook-event.ts";
import type { Fault } from "../../../../tools/simulator/faults.ts";
import { type Simulator, startSimulator } from "../../../../tools/simulator/server.ts";
import { freshTables } from "../../../builders/dynamodb/tables.ts";
import { openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { aSecret } from "../../../builders/ledger/secrets.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { eventually } from "../../../builders/run/eventually.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { aCatalog, aPlan } from "../../../builders/upstream/catalog.ts";
import { PROFILE } from "../../../builders/upstream/upstream-simulator.ts";
import { subscribe } from "../../../builders/webhooks/subscribe.ts";

const KEY = "live_upstream_0123456789abcdefghijklmnop";

/** The refresh between a simulator and the cache table, with a clock that only the test moves. */
const aRefresh = async (options: { readonly key?: string | undefined } = {}) => {
  const simulator = await startSimulator({ liveKey: KEY });
  onTestFinished(() => simulator.stop());
  const { db, cacheTable } = await freshTables();
  const store = catalogStore(db, cacheTable);
  const clock = { nowMs: NOON_MS };
  const key = "key" in options ? options.key : KEY;
  const liveKey = aSecret(key);
  const upstream = httpUpstream({ baseUrl: simulator.baseUrl, profile: PROFILE, liveKey });
  const serve = (catalog: unknown): void => {
    simulator.state.catalogBody = { status: true, message: "OK", data: catalog };
  };
  const announce = vi.fn(async (_change: CatalogChange, _deadline: Deadline) => true);
  const refresh = (when?: "now", baseUrl = simulator.baseUrl) =>
    refreshCatalog({ store, upstream, baseUrl, announce, clock: () => clock.nowMs }, deadlineIn(60_000), when);
  return {
    ...{ simulator, db, cacheTable, store, clock, serve, announce, refresh },
    /** The refresh of an hour later, when the upstream serves this catalog. */
    next: (catalog: unknown) => {
      clock.nowMs += HOUR_MS;
      serve(catalog);
      return refresh();
    },
    /** The catalog in the table. */
    stored: async (): Promise<Catalog | undefined> => {
      const snapshot = await store.read();
      return snapshot && catalogOf(snapshot);
    },
  };
};

const plans = (count: number) => aCatalog(count).data_plans;
/** A catalog of these plans, with the networks of the others. */
const ofPlans = (...data_plans: readonly object[]) => ({ ...aCatalog(0), data_plans });

/** How many requests for the catalog the upstream got. */
const reads = (simulator: Simulator): number => {
  const [left] = simulator.state.faults.list();
  return 1_000 - (left?.times ?? 1_000);
};
const countReads = (simulator: Simulator): void =>
  simulator.state.faults.add({ kind: "delay", delay_ms: 0, path: "/vtu/data", times: 1_000 });

test("the catalog of another upstream is replaced by the next run, whatever its age: its ids may be other bundles there", async () => {
  const { refresh, clock } = await aRefresh();
  await refresh();
  clock.nowMs += 1;
  expect(await refresh()).toEqual({ kind: "fresh_enough" });
  expect(await refresh(undefined, "https://other.example.com/v1")).toMatchObject({ kind: "replaced" });
  expect(await refresh(undefined, "https://other.example.com/v1")).toEqual({ kind: "fresh_enough" });
});

test("the table returns a snapshot byte by byte, with its tag and its time", async () => {
  const { store } = await aRefresh();
  expect(await store.read()).toBeUndefined();
  const snapshot = snapshotOf(aCatalog(30), NOON_MS + 7);
  await store.write(snapshot);
  const read = await store.read();
  expect(read).toMatchObject({ etag: snapshot.etag, fetchedAtMs: NOON_MS + 7 });
  expect(Buffer.from(read?.gzip ?? []).equals(snapshot.gzip)).toBe(true);
  expect(documentText(read ?? snapshotOf(aCatalog(0), 0))).toBe(documentText(snapshot));
});

test("a catalog whose write lands late replaces no newer one, nor does a refused one", async () => {
  const { store } = await aRefresh();
  const [newer, older] = [snapshotOf(aCatalog(30), NOON_MS), snapshotOf(aCatalog(20), NOON_MS - 1)];
  // The same one again, as the SDK sends it after a lost answer.
  const writes = [await store.write(newer), await store.write(older), await store.write(newer)];
  expect(writes).toEqual([true, false, true]);
  await store.writeCandidate(newer);
  await store.writeCandidate(older);
  expect([await store.read(), await store.readCandidate()]).toMatchObject([{ etag: newer.etag }, { etag: newer.etag }]);
});

test("a catalog replaces only the one that was read, not another one of the same time, nor the same one of another time", async () => {
  const { store } = await aRefresh();
  const [stored, next] = [snapshotOf(aCatalog(30), NOON_MS), snapshotOf(aCatalog(31), NOON_MS + 1)];
  await store.write(stored);
  for (const read of [
    { ...stored, etag: next.etag },
    { ...stored, fetchedAtMs: NOON_MS - 1 },
  ]) {
    expect(await store.replace(read, next)).toBe(false);
  }
  expect(await store.replace(stored, next)).toBe(true);
});

test("the first refresh is retried each minute until it succeeds, and each failure raises an alarm: nothing is served", async () => {
  const { refresh, simulator, clock, stored } = await aRefresh();
  const log = captureLog();
  simulator.state.faults.add({ kind: "status", status: 503, times: 2 });
  for (const expected of ["refused", "refused", "replaced", "fresh_enough"]) {
    expect((await refresh()).kind).toBe(expected);
    clock.nowMs += 60_000;
  }
  expect((await stored())?.data_plans.length).toBe(30);
  expect(log.lines("catalog.refresh_failed")).toHaveLength(2);
});

describe("a filled table", () => {
  test("a catalog is refreshed after an hour, and before that the upstream gets no request", async () => {
    const { refresh, simulator, clock } = await aRefresh();
    await refresh();
    countReads(simulator);
    clock.nowMs = NOON_MS + HOUR_MS - 1;
    expect(await refresh()).toEqual({ kind: "fresh_enough" });
    expect(reads(simulator)).toBe(0);
    clock.nowMs = NOON_MS + HOUR_MS;
    expect(await refresh()).toEqual({ kind: "replaced", plans: 30 });
    expect(reads(simulator)).toBe(1);
    clock.nowMs = NOON_MS + 2 * HOUR_MS - 1;
    expect(await refresh()).toEqual({ kind: "fresh_enough" });
    expect(await refresh("now")).toEqual({ kind: "replaced", plans: 30 });
  });

  test("a refresh stores new prices, added and removed plans, and another tag, and logs what is new", async () => {
    const { next, store, stored } = await aRefresh();
    const log = captureLog();
    await next(aCatalog(4));
    const before = await store.read();
    const changed = [aPlan({ id: 101, price: 510 }), aPlan({ id: 102 }), aPlan({ id: 900 })];
    expect(await next(ofPlans(...changed))).toEqual({ kind: "replaced", plans: 3 });
    expect((await stored())?.data_plans).toEqual(changed);
    expect(log.lines("catalog.replaced")).toMatchObject([
      { plans: 4, added: "4: 101 102 103 104", removed: "0:", repriced: "0:" },
      { plans: 3, added: "1: 900", removed: "2: 103 104", repriced: "1: 101" },
    ]);
    expect((await store.read())?.etag).not.toBe(before?.etag);
  });

  test("an unchanged catalog keeps its tag, and its age begins anew", async () => {
    const { refresh, store, clock } = await aRefresh();
    await refresh();
    const before = await store.read();
    clock.nowMs = NOON_MS + HOUR_MS;
    await refresh();
    expect(await store.read()).toMatchObject({ etag: before?.etag, fetchedAtMs: NOON_MS + HOUR_MS });
  });
});

describe("a catalog that was refused as halved", () => {
  const aHalvedOne = async () => {
    const setting = await aRefresh();
    await setting.next(aCatalog(10));
    expect(await setting.next(aCatalog(4))).toEqual({ kind: "refused", reason: "halved" });
    return setting;
  };

  test("a catalog refused as halved is served once an operator accepts it, and the next one of its size is not refused", async () => {
    const { store, stored, refresh, clock } = await aHalvedOne();
    expect((await stored())?.data_plans).toHaveLength(10);
    // A person has seen another one.
    expect(await acceptCandidate(store, () => NOON_MS, clock.nowMs + 1)).toBeUndefined();
    expect((await acceptCandidate(store, () => NOON_MS, clock.nowMs))?.data_plans).toHaveLength(4);
    expect((await stored())?.data_plans).toHaveLength(4);
    clock.nowMs += HOUR_MS;
    expect(await refresh()).toEqual({ kind: "replaced", plans: 4 });
  });

  test("a halved catalog is served without an operator once the one before it is too old to sell from, and an empty one is not", async () => {
    const { stored, serve, refresh, clock } = await aHalvedOne();
    const [before] = [await stored()];
    const staleMs = NOON_MS + HOUR_MS + SELLABLE_AGE_MS_MAX;
    clock.nowMs = staleMs;
    expect(await refresh()).toEqual({ kind: "refused", reason: "halved" });
    clock.nowMs = staleMs + 1;
    serve(aCatalog(0));
    expect(await refresh()).toEqual({ kind: "refused", reason: "empty" });
    expect(await stored()).toEqual(before);
    serve(aCatalog(4));
    expect(await refresh()).toEqual({ kind: "replaced", plans: 4 });
  });

  test("an acceptance whose answer was lost and that the SDK repeats is reported as accepted", async () => {
    const { store, stored, clock } = await aHalvedOne();
    const { replace } = store;
    vi.spyOn(store, "replace").mockImplementationOnce(
      async (...write) => (await replace(...write)) && replace(...write),
    );
    expect((await acceptCandidate(store, () => NOON_MS, clock.nowMs))?.data_plans).toHaveLength(4);
    expect((await stored())?.data_plans).toHaveLength(4);
  });

  test("a refused catalog cannot be accepted after a newer one was stored", async () => {
    const { store, stored, serve, refresh, clock } = await aHalvedOne();
    const refusedAtMs = clock.nowMs;
    clock.nowMs += 60_000;
    serve(aCatalog(9));
    expect(await refresh()).toEqual({ kind: "replaced", plans: 9 });
    expect(await acceptCandidate(store, () => NOON_MS, refusedAtMs)).toBeUndefined();
    expect((await stored())?.data_plans).toHaveLength(9);
  });
});

describe("a change of the catalog", () => {
  const aChangedOne = async () => {
    const setting = await aRefresh();
    await setting.next(aCatalog(10));
    setting.clock.nowMs += HOUR_MS;
    setting.serve(aCatalog(11));
    return setting;
  };
  const counts = (change: CatalogChange | undefined) =>
    catalogUpdated.shape.data.parse(JSON.parse(change?.data ?? "")).counts;

  test("a change is announced once, in the refresh that stores it; the first catalog and an unchanged one are not", async () => {
    const { refresh, announce, clock, store } = await aChangedOne();
    expect(announce).not.toHaveBeenCalled();
    await refresh();
    expect(announce).toHaveBeenCalledOnce();
    expect(announce.mock.calls[0]?.[0].at).toBe(isoTime(clock.nowMs));
    expect(counts(announce.mock.calls[0]?.[0])).toMatchObject({ plans_added: 1, plans_removed: 0 });
    expect((await store.read())?.unannounced).toEqual([]);
    clock.nowMs += 60_000;
    await refresh();
    clock.nowMs += HOUR_MS;
    await refresh();
    expect(announce).toHaveBeenCalledOnce();
  });

  test("a change whose announcement fails is served, raises an alarm, and is announced by the next run as the same change", async () => {
    const { refresh, announce, clock, store, stored } = await aChangedOne();
    const log = captureLog();
    announce.mockRejectedValueOnce(new Error("SQS is unavailable"));
    expect(await refresh()).toEqual({ kind: "replaced", plans: 11 });
    expect((await stored())?.data_plans).toHaveLength(11);
    expect(log.lines("catalog.change_not_announced")).not.toEqual([]);
    clock.nowMs += 60_000;
    expect(await refresh()).toEqual({ kind: "fresh_enough" });
    expect(announce).toHaveBeenCalledTimes(2);
    expect(announce.mock.calls[1]?.[0]).toEqual(announce.mock.calls[0]?.[0]);
    expect((await store.read())?.unannounced).toEqual([]);
  });

  test("an announcement that AWS does not answer raises an alarm once it has waited for 15 minutes", async () => {
    const { refresh, announce, clock } = await aChangedOne();
    const log = captureLog();
    announce.mockRejectedValue(Object.assign(new Error("Timeout"), { name: "TimeoutError" }));
    await refresh();
    clock.nowMs += 15 * 60_000;
    await refresh();
    expect(log.lines("catalog.announcement_delayed")).toHaveLength(2);
    expect(log.lines("catalog.change_not_announced")).toEqual([]);
    clock.nowMs += 1;
    await refresh();
    expect(log.lines("catalog.change_not_announced")).toHaveLength(1);
  });

  test("while announcements fail, prices are still refreshed, and the last 3 changes are announced later in order", async () => {
    const { refresh, serve, announce, clock, stored } = await aChangedOne();
    const log = captureLog();
    announce.mockRejectedValue(new Error("SQS is unavailable"));
    const changedAt: string[] = [];
    for (const plans of [11, 12, 13, 14]) {
      changedAt.push(isoTime(clock.nowMs));
      serve(aCatalog(plans));
      expect(await refresh()).toEqual({ kind: "replaced", plans });
      clock.nowMs += HOUR_MS;
    }
    expect(log.text()).toContain("too_many");
    announce.mockReset();
    await refresh();
    expect((await stored())?.data_plans).toHaveLength(14);
    expect(announce.mock.calls.map(([{ at }]) => at)).toEqual(changedAt.slice(1));
  });

  test("an operator's acceptance of a refused catalog is announced by the next run", async () => {
    const { refresh, serve, announce, clock, store } = await aChangedOne();
    captureLog();
    serve(aCatalog(4));
    await refresh();
    expect(announce).not.toHaveBeenCalled();
    await acceptCandidate(store, () => clock.nowMs, clock.nowMs);
    clock.nowMs += 60_000;
    await refresh();
    expect(announce).toHaveBeenCalledOnce();
    expect(counts(announce.mock.calls[0]?.[0])).toMatchObject({ plans_added: 0, plans_removed: 6 });
  });

  test("a refresh does not overwrite a catalog that was accepted while it fetched, nor that one's change", async () => {
    const { refresh, serve, announce, clock, store, stored, simulator } = await aChangedOne();
    captureLog();
    serve(aCatalog(4));
    await refresh();
    const refusedAtMs = clock.nowMs;
    clock.nowMs += 60_000;
    serve(aCatalog(9));
    simulator.state.faults.add({ kind: "delay", delay_ms: 2_000, path: "/vtu/data", times: 1 });
    const refreshing = refresh();
    await eventually(() => expect(simulator.state.faults.list()).toEqual([]));
    await acceptCandidate(store, () => clock.nowMs, refusedAtMs);
    expect(await refreshing).toEqual({ kind: "fresh_enough" });
    expect((await stored())?.data_plans).toHaveLength(4);
    await refresh();
    expect(counts(announce.mock.calls[0]?.[0])).toMatchObject({ plans_removed: 6 });
  });

  test("a run that cannot read the served catalog changes nothing, and the next one announces the change", async () => {
    const { refresh, announce, store, stored } = await aChangedOne();
    const read = vi.spyOn(store, "read").mockRejectedValueOnce(new Error("DynamoDB does not answer"));
    onTestFinished(() => read.mockRestore());
    await expect(refresh()).rejects.toThrow("DynamoDB does not answer");
    expect((await stored())?.data_plans).toHaveLength(10);
    await refresh();
    expect(announce).toHaveBeenCalledOnce();
  });

  test("a change is announced to subscribed accounts only, each under an id of its own that copies share", async () => {
    const { refresh, clock, announce } = await aChangedOne();
    await refresh();
    const ledger = await openLedgerAtNoon();
    const [one, other] = [await ledger.anAccount(0.01), await ledger.anAccount(0.01), await ledger.anAccount(0.01)];
    await subscribe(ledger, one, ["catalog.updated"]);
    await subscribe(ledger, other, ["catalog.updated", "wallet.low"]);
    const sent: [DeliveryMessage, string][] = [];
    const queue = { send: async (...message: [DeliveryMessage, string]) => void sent.push(message) };
    const change = announce.mock.calls[0]?.[0] ?? { at: "", data: "" };
    for (let copy = 0; copy < 2; copy += 1) {
      expect(await enqueueCatalogUpdated({ ledger, queue })(change, deadlineIn(60_000))).toBe(true);
    }
    const failing = { send: () => Promise.reject(new Error("No answer of SQS")) };
    await expect(enqueueCatalogUpdated({ ledger, queue: failing })(change, deadlineIn(60_000))).rejects.toThrow("SQS");
    const subscribers = sent.map(([, accountId]) => accountId);
    expect(subscribers).toHaveLength(4);
    expect(new Set(subscribers)).toEqual(new Set([one, other]));
    const ids = sent.map(([message]) => (message.event === "catalog.updated" ? accountEventId(message) : ""));
    expect(new Set(ids).size).toBe(2);
    const bodies = sent.map(([message]) => (message.event === "catalog.updated" ? message.body : ""));
    expect(new Set(bodies).size).toBe(1);
    expect(catalogUpdated.parse(JSON.parse(bodies[0] ?? "")).data.at).toBe(isoTime(clock.nowMs));
  });
});

describe("of more subscriptions than a run can announce a change to", () => {
  test("each one has its turn, and no run takes the others for announced", async () => {
    const ledger = await openLedgerAtNoon();
    const accounts = Array.from({ length: 250 }, (_, index) => `acc_${index}`);
    const Items = accounts.map((accountId) => ({
      pk: subscriptionPk("catalog.updated", { accountId, endpoint: "1" }),
      listed_at: isoTime(NOON_MS),
    }));
    const query = vi.spyOn(ledger.db, "query").mockImplementation(async () => ({ Items, $metadata: {} }));
    onTestFinished(() => query.mockRestore());
    const reached = new Set<string>();
    const queue = { send: async (_message: DeliveryMessage, accountId: string) => void reached.add(accountId) };
    for (let minute = 0; minute < 6; minute += 1) {
      ledger.nowMs += 60_000;
      // Time for one batch.
      const remainingMs = vi.fn(() => 0).mockReturnValueOnce(1);
      const announce = enqueueCatalogUpdated({ ledger, queue });
      expect(await announce({ at: isoTime(NOON_MS), data: "{}" }, { remainingMs })).toBe(false);
    }
    expect(reached).toEqual(new Set(accounts));
  });

  test("the catalog is still refreshed, and an alarm says that the change is late", async () => {
    const { next, announce, store } = await aRefresh();
    await next(aCatalog(10));
    const log = captureLog();
    announce.mockResolvedValue(false);
    for (const plans of [11, 12]) expect(await next(aCatalog(plans))).toEqual({ kind: "replaced", plans });
    expect(log.lines("catalog.change_not_announced").map(({ reason }) => reason)).toContain("out_of_time");
    expect((await store.read())?.unannounced).toHaveLength(2);
    // The rest of the run is the upstream's.
    expect(announce.mock.lastCall?.[1].remainingMs()).toBeLessThanOrEqual(30_000);
  });
});

test("a catalog refused as empty is served once accepted, and refreshed without another refusal", async () => {
  const { next, store, stored, clock } = await aRefresh();
  await next(aCatalog(10));
  expect(await next(aCatalog(0))).toEqual({ kind: "refused", reason: "empty" });
  expect((await stored())?.data_plans).toHaveLength(10);
  expect((await acceptCandidate(store, () => NOON_MS, clock.nowMs))?.data_plans).toEqual([]);
  expect(await next(aCatalog(0))).toEqual({ kind: "replaced", plans: 0 });
  expect(await next(aCatalog(10))).toEqual({ kind: "replaced", plans: 10 });
});

test("a network that gets a code which is no name of it raises an alarm once: what is off or priced names the code before", async () => {
  const { next } = await aRefresh();
  const log = captureLog();
  const alarms = () => log.lines("catalog.network_codes_removed").map(({ networks }) => networks);
  const other = { id: 2, name: "GLO", code: "glo" };
  const network = { id: 4, name: "9mobile", code: "9mobile" };
  for (const code of ["9mobile", "t2", "t3", "9mobile"]) {
    const catalog = aCatalog(0, { networks: [other, { ...network, code }], data_plans: [aPlan({ network_id: 4 })] });
    expect(await next(catalog)).toMatchObject({ kind: "replaced" });
  }
  expect(alarms()).toEqual(["1: t2", "1: t3"]);
});

describe("a catalog with invalid plans", () => {
  const invalidPlan = (id: number) => aPlan({ id, name: "G".repeat(150) });
  const linesOf = async (work: () => Promise<unknown>) => {
    const log = captureLog();
    await work();
    return log.lines().filter(({ event }) => String(event).startsWith("catalog.entries_"));
  };

  test("a catalog with invalid plans is served without them, with one alarm that names each, until they change", async () => {
    const { next, store, stored } = await aRefresh();
    const twoInvalid = ofPlans(...plans(9), invalidPlan(900), aPlan({ id: 901, price: 0 }));
    const [alarm] = await linesOf(() => next(twoInvalid));
    const fields = { dropped: "2: plan 900 (name) plan 901 (price)" };
    expect(alarm).toMatchObject({ level: "error", event: "catalog.entries_dropped", Alarms: 1, ...fields });
    expect((await stored())?.data_plans).toEqual(plans(9));
    expect((await store.read())?.dropped).toEqual({
      count: 2,
      first: [
        { kind: "plan", id: "900", field: "name" },
        { kind: "plan", id: "901", field: "price" },
      ],
    });
    const [again] = await linesOf(() => next(twoInvalid));
    expect(again).toMatchObject({ level: "warn", event: "catalog.entries_still_dropped", ...fields });
    const another = await linesOf(() => next(ofPlans(...plans(9), invalidPlan(902))));
    expect(another).toMatchObject([{ level: "error", dropped: "1: plan 902 (name)" }]);
    expect(await linesOf(() => next(ofPlans(...plans(9))))).toEqual([]);
  });

  test("an alarm names 10 invalid plans and counts the others", async () => {
    const { next, store } = await aRefresh();
    const many = Array.from({ length: 80 }, (_, at) => invalidPlan(900 + at));
    const [alarm] = await linesOf(() => next(ofPlans(...plans(9), ...many)));
    expect(alarm?.dropped).toMatch(/^80: (plan \d+ \(name\) ){10}\.\.\.$/);
    const dropped = (await store.read())?.dropped;
    expect([dropped?.count, dropped?.first.length]).toEqual([80, 50]);
  });

  test("a catalog is compared with the plans that were usable before, not with all that were sent", async () => {
    const { next } = await aRefresh();
    const many = Array.from({ length: 90 }, (_, at) => invalidPlan(900 + at));
    expect(await next(ofPlans(...plans(10), ...many))).toEqual({ kind: "replaced", plans: 10 });
    expect(await next(aCatalog(5))).toEqual({ kind: "replaced", plans: 5 });
  });
});

describe("a refused catalog", () => {
  type Setting = Awaited<ReturnType<typeof aRefresh>>;
  type Spoil = (setting: Setting) => void;
  const fault =
    (of: Fault): Spoil =>
    ({ simulator }) =>
      simulator.state.faults.add(of);
  const catalog =
    (of: unknown): Spoil =>
    ({ serve }) =>
      serve(of);
  const answer = (status: number, ofStatus: boolean): Spoil =>
    fault({ kind: "status", status, body: { status: ofStatus, message: "OK", data: aCatalog(10) } });
  const spoilt: readonly (readonly [string, string, Spoil, logged?: object])[] = [
    ["has no plans", "empty", catalog(aCatalog(0))],
    ["has no networks and no plans", "empty", catalog({ networks: [], data_plans: [] })],
    ["has 4 plans instead of 10", "halved", catalog(aCatalog(4)), { plans: 4, plans_before: 10 }],
    [
      "has invalid plans only",
      "invalid",
      catalog(ofPlans(...plans(2).map((plan) => ({ ...plan, id: `plan-${plan.id}` })))),
      { dropped: '2: plan "plan-101" (id) plan "plan-102" (id)' },
    ],
    [
      "has 4 usable plans and 6 invalid ones",
      "halved",
      catalog(ofPlans(...plans(10).map((plan, at) => ({ ...plan, price: at < 4 ? 500 : 0 })))),
    ],
    ["has no networks", "invalid", catalog(aCatalog(10, { networks: [] }))],
    ["is an array", "invalid", catalog([]), { at: "data" }],
    ["has the status false", "invalid", answer(200, false)],
    ["is HTML", "invalid", fault({ kind: "html" })],
    ["is empty", "invalid", fault({ kind: "empty" })],
    ["comes with 201", "unreachable", answer(201, true)],
    ["is a 500", "unreachable", fault({ kind: "status", status: 500 })],
    ["is a redirect", "unreachable", fault({ kind: "status", status: 302 })],
    ["is a 401 with the current key", "unreachable", fault({ kind: "status", status: 401 })],
    ["never comes", "unreachable", fault({ kind: "drop_before_reading" })],
    ["is larger than 8 MB", "unreachable", fault({ kind: "huge", bytes: 9_000_000 })],
    [
      "would not fit into one item",
      "too_large",
      ({ serve }) => {
        const name = () => randomBytes(60).toString("base64");
        serve(ofPlans(...Array.from({ length: 8_000 }, (_, id) => aPlan({ id: id + 1, name: name() }))));
      },
    ],
    [
      "would not fit into an answer to a caller without gzip",
      "too_large",
      ({ serve }) => {
        const name = "a".repeat(120);
        serve(ofPlans(...Array.from({ length: 30_000 }, (_, id) => aPlan({ id: id + 1, name }))));
      },
    ],
  ];

  test.for(spoilt)("the old catalog stays if the new one %s: %s", async ([, reason, spoil, logged = {}]) => {
    const log = captureLog();
    const setting = await aRefresh();
    setting.serve(aCatalog(10));
    expect(await setting.refresh()).toEqual({ kind: "replaced", plans: 10 });
    const before = await setting.store.read();
    spoil(setting);
    setting.clock.nowMs = NOON_MS + HOUR_MS;
    expect(await setting.refresh()).toEqual({ kind: "refused", reason });
    expect(log.lines().at(-1)).toMatchObject({ event: expect.stringMatching(/^catalog.refresh_/), ...logged });
    expect(await setting.store.read()).toEqual(before);

    // It is still due, so that the next run retries it.
    setting.simulator.state.faults.clear();
    setting.serve(aCatalog(11));
    setting.clock.nowMs += 60_000;
    expect(await setting.refresh()).toEqual({ kind: "replaced", plans: 11 });
  });

  test.each([
    ["does not answer", { kind: "drop_before_reading" }, "delayed"],
    ["is broken", { kind: "status", status: 500 }, "delayed"],
    ["is at its limit", { kind: "rate_limited", retry_after_s: 60 }, "delayed"],
    ["refuses the key", { kind: "status", status: 401 }, "failed"],
  ] as const)(
    "an upstream that %s raises an alarm at once only if a person must act, and after 15 minutes otherwise",
    async (_what, fault, first) => {
      const { refresh, simulator, clock, serve } = await aRefresh();
      serve(aCatalog(10));
      await refresh();
      simulator.state.faults.add({ ...fault, times: 3 });
      const log = captureLog();
      for (const atMs of [HOUR_MS, 75 * 60_000, 75 * 60_000 + 1]) {
        clock.nowMs = NOON_MS + atMs;
        await refresh();
      }
      const events = log
        .lines()
        .map(({ event }) => event)
        .filter((event) => /^catalog.refresh/.test(String(event)));
      expect(events).toEqual([`catalog.refresh_${first}`, `catalog.refresh_${first}`, "catalog.refresh_failed"]);
    },
  );

  test("before the upstream's key is set, a refresh sends no request and raises no alarm", async () => {
    const { refresh, simulator, store } = await aRefresh({ key: undefined });
    countReads(simulator);
    const log = captureLog();
    expect(await refresh()).toEqual({ kind: "not_set_up" });
    expect([reads(simulator), await store.read(), log.lines()]).toEqual([0, undefined, []]);
  });

  test("once there was a catalog, a refresh without a key is refused as unreachable and raises an alarm", async () => {
    const { refresh, simulator, store, clock } = await aRefresh({ key: undefined });
    await store.write(snapshotOf(aCatalog(10), NOON_MS));
    clock.nowMs = NOON_MS + HOUR_MS;
    countReads(simulator);
    const log = captureLog();
    expect(await refresh()).toEqual({ kind: "refused", reason: "unreachable" });
    expect(reads(simulator)).toBe(0);
    expect(log.lines()[0]).toMatchObject({ event: "catalog.refresh_failed" });
  });
});

test.for([
  [10, 5, "replaced"],
  [10, 4, "refused"],
  [9, 5, "replaced"],
  [9, 4, "refused"],
  [1, 1, "replaced"],
] as const)(
  "a catalog that shrinks from %i plans to %i is %s: less than half is refused",
  async ([before, after, kind]) => {
    const { next } = await aRefresh();
    await next(aCatalog(before));
    expect((await next(aCatalog(after))).kind).toBe(kind);
  },
);

test.each([
  ["an item", () => ({ body: "of another version" })],
  ["a catalog", () => ({ gzip: snapshotOf(aCatalog(1, { networks: [] }), 0).gzip.subarray(1), etag: "e" })],
])("%s that this version cannot read is replaced", async (_what, unreadable) => {
  const { db, cacheTable, refresh, stored } = await aRefresh();
  const readable = { fetched_at: isoTime(NOON_MS), dropped: { count: 0, first: [] }, unannounced: [] };
  await db.put({ TableName: cacheTable, Item: { pk: "catalog", ...readable, ...unreadable() } });
  expect(await refresh()).toEqual({ kind: "replaced", plans: 30 });
  expect((await stored())?.data_plans.length).toBe(30);
});
