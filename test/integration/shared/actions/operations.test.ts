import { expect, test, vi } from "vitest";
import { type ActionContext, auditItem } from "../../../../shared/actions/action-context.ts";
import { catalogRuns } from "../../../../shared/actions/catalog.ts";
import { doctorRuns } from "../../../../shared/actions/doctor.ts";
import { purchasesRuns, purchasesText } from "../../../../shared/actions/purchases.ts";
import { statisticsRuns } from "../../../../shared/actions/statistics.ts";
import { upstreamRuns } from "../../../../shared/actions/upstream.ts";
import { snapshotOf } from "../../../../shared/catalog/snapshot.ts";
import { HOUR_MS } from "../../../../shared/contract/values/durations.ts";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import { readAudit, SERVICE } from "../../../../shared/ledger/audit.ts";
import { setLowBalanceThreshold } from "../../../../shared/ledger/low-balance-threshold.ts";
import { FLOAT_PK } from "../../../../shared/ledger/schema.ts";
import { setParts, updateOf } from "../../../../shared/ledger/update-parts.ts";
import { measureFloat, recordPayment } from "../../../../shared/margin/float.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { OperatorError } from "../../../../shared/platform/operator-error.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { orderGate } from "../../../../shared/queued-orders/order-gate.ts";
import { enqueueOrder } from "../../../../shared/queued-orders/queue-store.ts";
import { noteQueue } from "../../../../shared/queued-orders/upstream-pace.ts";
import { setDailyBalances } from "../../../../shared/statistics/daily-balances.ts";
import { addToHours } from "../../../../shared/statistics/hourly-counts.ts";
import { disableEndpoint, setEndpoint } from "../../../../shared/webhooks/endpoint.ts";
import { recordEndpointHealth } from "../../../../shared/webhooks/endpoint-health.ts";
import { afterNext } from "../../../builders/dynamodb/another-process.ts";
import { anActionContext, type TestContext } from "../../../builders/ledger/action-context.ts";
import { openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { aSecret } from "../../../builders/ledger/secrets.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { aSimulator, LIVE_KEY, PROFILE, TEST_KEY } from "../../../builders/upstream/upstream-simulator.ts";
import { firstEndpoint } from "../../../builders/webhooks/endpoint.ts";

const networks = [{ id: 1, name: "MTN", code: "mtn" }];
const plan = (id: number, price: number) => ({ id, network_id: 1, name: `${id} GB`, price, validity: "30 days" });

const aService = async (changes: Partial<TestContext> = {}) => {
  const ledger = await openLedgerAtNoon();
  const context = anActionContext(ledger.tables, { clock: ledger.clock, ...changes });
  return { ledger, context };
};

/** A served catalog of three plans, and a refused one of the plan that is given. */
const aRefusedCatalog = async () => {
  const { context } = await aService();
  await context.catalog.write(
    snapshotOf({ networks, data_plans: [plan(1, 100), plan(2, 200), plan(3, 300)] }, NOON_MS - 2 * HOUR_MS),
  );
  await context.catalog.writeCandidate(snapshotOf({ networks, data_plans: [plan(1, 150)] }, NOON_MS - HOUR_MS));
  return context;
};

test("catalog diff has the refused catalog's figures, the plans that would go and the old price of a dearer one", async () => {
  const context = await aRefusedCatalog();
  expect(await catalogRuns["catalog diff"](context, {})).toEqual({
    refused: {
      fetched_at: isoTime(NOON_MS - HOUR_MS),
      age: "1 h",
      ...{ networks: 1, plans: 1, dropped: 0 },
      added: [],
      removed: [plan(2, 200), plan(3, 300)],
      repriced: [{ ...plan(1, 150), previous_price: 100 }],
      ...{ networks_added: [], networks_removed: [] },
    },
  });
});

test("catalog accept refuses a catalog that is not the one that was reviewed, and records nothing then", async () => {
  const context = await aRefusedCatalog();
  const reviewed = catalogRuns["catalog accept"](context, { fetched_at: isoTime(NOON_MS), why: "seen" });
  await expect(reviewed).rejects.toThrow("The refused catalog is no longer the one that was reviewed");
  expect(await readAudit(context.ledger, SERVICE)).toEqual([]);
  const input = { fetched_at: isoTime(NOON_MS - HOUR_MS), why: "two plans were withdrawn" };
  // The second time as if the answer had been lost.
  for (let times = 0; times < 2; times += 1) {
    expect(await catalogRuns["catalog accept"](context, input)).toEqual({ kind: "accepted", plans: 1 });
  }
  expect(await readAudit(context.ledger, SERVICE)).toMatchObject([{ action: "catalog accept", why: input.why }]);
  await expect(catalogRuns["catalog accept"](context, {})).rejects.toThrow(OperatorError);
});

test("before a catalog is served, a first one without plans is shown as refused, and can be accepted", async () => {
  const { context } = await aService();
  expect(await catalogRuns["catalog show"](context, {})).toEqual({ served: null, refused: null });
  await context.catalog.writeCandidate(snapshotOf({ networks, data_plans: [] }, NOON_MS - HOUR_MS));
  const refused = { fetched_at: isoTime(NOON_MS - HOUR_MS), age: "1 h", networks: 1, plans: 0, dropped: 0 };
  expect(await catalogRuns["catalog show"](context, {})).toEqual({ served: null, refused });
  expect(await catalogRuns["catalog accept"](context, { why: "test" })).toEqual({ kind: "accepted", plans: 0 });
});

test("purchases stay as they are, with an error, if the switch is not written, and off without an audit entry", async () => {
  const { context } = await aService();
  const { db } = context.purchases;
  vi.spyOn(db, "put").mockRejectedValueOnce(new Error("No answer"));
  await expect(purchasesRuns["purchases off"](context, { why: "ticket 97" })).rejects.toThrow("No answer");
  await purchasesRuns["purchases off"](context, { why: "ticket 97" });
  vi.spyOn(context.ledger.db, "transactWrite").mockRejectedValueOnce(new Error("No audit"));
  await expect(purchasesRuns["purchases on"](context, { why: "ticket 98" })).rejects.toThrow("No audit");
  vi.spyOn(db, "put").mockRejectedValueOnce(new Error("No answer"));
  await expect(purchasesRuns["purchases on"](context, { why: "ticket 98" })).rejects.toThrow("No answer");
  expect(await purchasesRuns["purchases show"](context, {})).toMatchObject({ purchases: "off" });
});

test("purchases that are off although the write got no answer have an audit entry", async () => {
  const { context } = await aService();
  afterNext(context.purchases.db, "put", () => Promise.reject(new Error("No answer")));
  await expect(purchasesRuns["purchases off"](context, { why: "ticket 97" })).rejects.toThrow("No answer");
  expect(await purchasesRuns["purchases off"](context, { why: "ticket 97" })).toMatchObject({ changed: false });
  expect(await readAudit(context.ledger, SERVICE)).toMatchObject([{ action: "purchases off", why: "ticket 97" }]);
});

test("purchases off says by whom and why, and changes nothing if they are off already", async () => {
  const { context } = await aService();
  const off = await purchasesRuns["purchases off"](context, { why: "ticket 97" });
  expect(off).toMatchObject({ purchases: "off", by: "Command line (says: ada)", why: "ticket 97", changed: true });
  const again = await purchasesRuns["purchases off"](context, { why: "ticket 98" });
  expect(again).toMatchObject({ why: "ticket 97", changed: false });
  expect(await readAudit(context.ledger, SERVICE)).toHaveLength(1);
});

test("purchases off of a network or a kind leaves the whole on, refuses a name that is neither, and is shown to owners", async () => {
  const { ledger, context } = await aService();
  await context.catalog.write(snapshotOf({ networks, data_plans: [] }, NOON_MS));
  const off = await purchasesRuns["purchases off"](context, { part: "mtn", why: "ticket 97" });
  expect(off).toMatchObject({
    purchases: "off",
    part: "mtn",
    by: "Command line (says: ada)",
    why: "ticket 97",
    changed: true,
  });
  await expect(purchasesRuns["purchases off"](context, { part: "mtm", why: "ticket 97" })).rejects.toThrow(
    "mtm is none of data, airtime, identity, mtn",
  );
  const again = await purchasesRuns["purchases off"](context, { part: "mtn", why: "ticket 98" });
  expect(again).toEqual({ ...off, changed: false });
  const shown = await purchasesRuns["purchases show"](context, {});
  const part = { part: "mtn", since: isoTime(NOON_MS), why: "ticket 97" };
  expect(shown).toMatchObject({ purchases: "on", parts: [{ ...part, by: "Command line (says: ada)" }] });
  expect(purchasesText(shown)).toBe(
    `purchases on; mtn off since ${isoTime(NOON_MS)} by Command line (says: ada) (ticket 97)`,
  );
  const account = await ledger.anAccount(0);
  expect(await purchasesRuns["purchases state"](context, { account })).toMatchObject({
    purchases: "on",
    parts: [part],
  });
  expect(await purchasesRuns["purchases on"](context, { part: "mtn" })).toMatchObject({
    purchases: "on",
    changed: true,
  });
  expect((await readAudit(context.ledger, SERVICE)).map(({ action, details }) => [action, details])).toEqual([
    ["purchases off", { part: "mtn" }],
    ["purchases on", { part: "mtn" }],
  ]);
});

test.each(["constructor", "__proto__"])(
  "what is no part was not off: %s is not switched on, and leaves no entry",
  async (part) => {
    const { context } = await aService();
    expect(await purchasesRuns["purchases on"](context, { part })).toMatchObject({ part, changed: false });
    expect(await readAudit(context.ledger, SERVICE)).toEqual([]);
  },
);

test("upstream show has the last catalog, the limit, open orders and what ended in the last three hours", async () => {
  const { ledger, context } = await aService();
  const { purchases: cache } = context;
  await context.catalog.write(snapshotOf({ networks, data_plans: [] }, NOON_MS - HOUR_MS));
  const [until, over] = [isoTime(NOON_MS + 20_000), isoTime(NOON_MS)];
  await noteQueue(cache, { per_minute: 120, queued_orders: 0, queue_until: until, next_run: over });
  const accountId = await ledger.anAccount(2_000);
  const openedAt = isoTime(NOON_MS - HOUR_MS);
  await ledger.anOpenTransaction(accountId, { created_at: openedAt });
  await ledger.anOpenTransaction(accountId);
  // It waited in the queue, and was sent just now.
  await ledger.anOpenTransaction(accountId, { created_at: isoTime(NOON_MS - 2 * HOUR_MS), sent_at: isoTime(NOON_MS) });
  const ended = { type: "data", network: "MTN", status: "success", amountKobo: 50_000, latencyMs: 900 } as const;
  await addToHours(
    cache,
    [0, 1, 2, 3].map((hours) => ({ ...ended, endedAtMs: NOON_MS - hours * HOUR_MS })),
  );
  const shown = await upstreamRuns["upstream show"](context, {});
  expect(shown).toEqual({
    catalog: { fetched_at: isoTime(NOON_MS - HOUR_MS) },
    refusals: [],
    limit: { per_minute: 120, spent_until: isoTime(NOON_MS + 20_000) },
    waiting: { count: 0, oldest_s: null, sending_s: 0 },
    open: { count: 3, stuck: 1, oldest_at: openedAt },
    recent: {
      latency_bounds_ms: expect.arrayContaining([1_000]),
      counts: [
        { type: "data", network: "MTN", status: "success", count: 3, amount: 1_500, latency: [3, 0, 0, 0, 0, 0, 0, 0] },
      ],
    },
  });
  ledger.nowMs = NOON_MS + HOUR_MS;
  expect((await upstreamRuns["upstream show"](context, {})).limit.spent_until).toBeNull();
});

test("statistics show has the hours until this one", async () => {
  const { ledger, context } = await aService();
  ledger.nowMs += 60_000;
  const { hours } = await statisticsRuns["statistics show"](context, { hours: 3 });
  expect(hours.map(({ hour }) => hour)).toEqual([-2, -1, 0].map((offset) => isoTime(NOON_MS + offset * HOUR_MS)));
});

test("statistics balances ends with the wallet's balance, and an unknown account is not found", async () => {
  const { ledger, context } = await aService();
  const accountId = await ledger.anAccount(750);
  const changedAtMs = NOON_MS - 2 * 24 * HOUR_MS;
  await setDailyBalances({ ...context.purchases, timeZone: context.timeZone }, [
    { accountId, balanceKobo: 10_000, version: 1, changedAtMs },
  ]);
  expect(await statisticsRuns["statistics balances"](context, { account: accountId, days: 4 })).toEqual({
    account_id: accountId,
    balances: [
      { day: "2026-11-18", balance: null },
      { day: "2026-11-19", balance: 100 },
      { day: "2026-11-20", balance: 100 },
      { day: "2026-11-21", balance: 750 },
    ],
  });
  const unknown = statisticsRuns["statistics balances"](context, { account: "acc_0123456789abcdef01", days: 4 });
  await expect(unknown).rejects.toThrow("acc_0123456789abcdef01");
});

const checksOf = async (context: ActionContext) =>
  Object.fromEntries(
    (await doctorRuns.doctor(context, {})).checks.map(({ check, state, found }) => [check, `${state}: ${found}`]),
  );

test("an order that was refused for the key outweighs a catalog that was fetched before, until another is accepted", async () => {
  const { ledger, context } = await aService();
  await context.catalog.write(snapshotOf({ networks, data_plans: [] }, NOON_MS - HOUR_MS));
  const gate = orderGate(context.purchases, ledger.clock, "vtu");
  await gate.noteOutcome({ kind: "account_error", reason: "status_401" }, deadlineIn(9_000));
  ledger.nowMs += 180_000;
  expect(await checksOf(context)).toMatchObject({
    "upstream key": "wrong: an order was refused 3 min ago (status_401)",
    address: "ok: was accepted 1 h ago, when the catalog was fetched",
    orders: "wrong: for 3 min no purchase got through (status_401)",
  });
  const { refusals } = await upstreamRuns["upstream show"](context, {});
  const at = isoTime(NOON_MS);
  expect(refusals).toEqual([{ group: "vtu", reason: "status_401", since: at, refused_at: at }]);

  await gate.noteOutcome({ kind: "delivered" }, deadlineIn(9_000));
  expect(await checksOf(context)).toMatchObject({
    "upstream key": "ok: was accepted 1 h ago, when the catalog was fetched",
    orders: "ok: the upstream accepts them",
  });
});

test("a catalog that is fetched later clears the key of a 401, and not what else keeps orders from getting through", async () => {
  for (const [reason, key, orders] of [
    ["status_401", "ok: was accepted", "ok: the upstream accepts them"],
    ["status_403", "wrong: an order was refused", "got through (status_403)"],
    ["upstream_balance", "ok: was accepted", "got through (upstream_balance)"],
  ] as const) {
    const { ledger, context } = await aService();
    const gate = orderGate(context.purchases, ledger.clock, "vtu");
    await gate.noteOutcome({ kind: "account_error", reason }, deadlineIn(9_000));
    await context.catalog.write(snapshotOf({ networks, data_plans: [] }, NOON_MS + 60_000));
    ledger.nowMs += 120_000;
    const checks = await checksOf(context);
    expect(checks["upstream key"], reason).toContain(key);
    expect(checks.orders, reason).toContain(orders);
  }
});

test("a network that delivers less than in the day before is looked into, from 20 orders on", async () => {
  const { context } = await aService();
  const ended = (network: string, status: "success" | "failed", count: number, minutesAgo: number) => {
    const order = { type: "data", network, status, amountKobo: 50_000, latencyMs: 900 } as const;
    return Array.from({ length: count }, () => ({ ...order, endedAtMs: NOON_MS - minutesAgo * 60_000 }));
  };
  await addToHours(context.purchases, [
    ...["MTN", "Glo", "Airtel"].flatMap((network) => ended(network, "success", 40, 120)),
    ...[...ended("MTN", "success", 14, 14), ...ended("MTN", "failed", 7, 1)],
    ...[...ended("Glo", "success", 18, 14), ...ended("Glo", "failed", 3, 1)],
    ...ended("Airtel", "failed", 19, 1),
  ]);
  expect((await checksOf(context))["success rates"]).toBe(
    "look: MTN delivered 66.7 % of the last 21 orders, and 100 % in the day before",
  );
});

test("orders that an operator resolves change no success rate, neither now nor the usual one", async () => {
  const { context } = await aService();
  const ended = (status: "success" | "failed", count: number, minutesAgo: number, latencyMs?: number) =>
    Array.from({ length: count }, () => ({
      ...({ type: "data", network: "MTN", status, amountKobo: 50_000, latencyMs } as const),
      endedAtMs: NOON_MS - minutesAgo * 60_000,
    }));
  await addToHours(context.purchases, [
    ...[...ended("success", 40, 120, 900), ...ended("failed", 40, 120)],
    ...[...ended("success", 19, 1, 900), ...ended("failed", 25, 1)],
  ]);
  expect((await checksOf(context))["success rates"]).toBe("ok: as usual");
  await addToHours(context.purchases, ended("failed", 4, 1, 900));
  expect((await checksOf(context))["success rates"]).toBe(
    "look: MTN delivered 82.6 % of the last 23 orders, and 100 % in the day before",
  );
});

test("a float below its alarm, an endpoint that is down and a low wallet are looked into", async () => {
  const { ledger, context } = await aService();
  const quiet = {
    float: "ok: no payment to the upstream is booked",
    endpoints: "ok: none is down",
    wallets: "ok: none is low",
  };
  expect(await checksOf(context)).toMatchObject(quiet);
  const accountId = await ledger.anAccount(100);
  await setLowBalanceThreshold(
    ledger,
    accountId,
    koboFromNaira(101),
    auditItem(context, accountId, { action: "test" }),
  );
  await setEndpoint(context.endpoints, context.addressRules, accountId, "https://hooks.example.com");
  const failing = { kind: "failing", since: isoTime(NOON_MS), event: "" } as const;
  for (const event of ["e-1", "e-2", "e-3"]) {
    await recordEndpointHealth(ledger, { ...firstEndpoint(accountId), generation: 0 }, { ...failing, event });
  }
  const payment = { paymentId: "GTB-1", amountKobo: koboFromNaira(1_000), by: "ada" };
  await recordPayment(ledger, payment, auditItem(context, SERVICE, { action: "float fund" }));
  await measureFloat({ ...ledger, timeZone: context.timeZone }, deadlineIn(60_000));
  expect(await checksOf({ ...context, floatAlarmHours: 10_001 })).toMatchObject({
    float: "look: lasts for 10,000 hours at the pace of the last 24 hours, by the latest hourly measurement",
    endpoints: `look: down or switched off: Endpoint 1 of ${accountId} (test)`,
    wallets: `look: below their threshold, the lowest first: ${accountId} (test)`,
  });
  expect((await checksOf({ ...context, floatAlarmHours: 10_000 })).float).toMatch(/^ok/);
  for (const [hours_left, found] of [
    [11.9, "lasts for 11 hours at the pace of the last 24 hours"],
    [0.9, "lasts for less than 1 hour at the pace of the last 24 hours"],
    [0, "is empty"],
  ] as const) {
    await ledger.db.update({ TableName: ledger.table, Key: { pk: FLOAT_PK }, ...updateOf(setParts({ hours_left })) });
    expect((await checksOf({ ...context, floatAlarmHours: 12 })).float).toBe(
      `look: ${found}, by the latest hourly measurement`,
    );
  }
  await disableEndpoint(context.endpoints, firstEndpoint(accountId));
  expect((await checksOf(context)).endpoints).toBe("ok: none is down");
});

test("after unrecognized answers the doctor says that the outcomes of the purchases are unknown", async () => {
  const { ledger, context } = await aService();
  const gate = orderGate(context.purchases, ledger.clock, "vtu");
  await gate.noteOutcome({ kind: "unknown", reason: "unrecognized_403" }, deadlineIn(9_000));
  ledger.nowMs += 120_000;
  const { checks } = await doctorRuns.doctor(context, {});
  expect(checks.find(({ check }) => check === "orders")).toEqual({
    check: "orders",
    state: "wrong",
    found: "for 2 min the outcome of each purchase is unknown (unrecognized_403)",
    todo: 'Follow "Unrecognized answers" in docs/runbook.md',
  });
});

test("orders that wait are looked into once they wait for long, or while purchases are off", async () => {
  const { ledger, context } = await aService();
  const accountId = await ledger.anAccount(2_000);
  const queuedOrders = async () => (await checksOf(context))["queued orders"];
  expect(await queuedOrders()).toBe("ok: none");
  for (const network of ["mtn", "glo"] as const) {
    const order = await ledger.anOpenTransaction(accountId);
    await enqueueOrder(ledger, order, { kind: "airtime", network }, deadlineIn(9_000));
  }
  expect(await queuedOrders()).toMatch(/^ok: 2 wait to be sent, the oldest for .*; sending them takes /);
  ledger.nowMs += 8 * 60_000;
  expect(await queuedOrders()).toMatch(/^look: 2 wait to be sent, the oldest for 8 min; sending/);
  await purchasesRuns["purchases off"](context, { why: "ticket 97" });
  expect(await queuedOrders()).toMatch(/^look: .*; purchases are off: they are neither sent nor refunded$/);
});

test("doctor names each part that is off in how to sell it again", async () => {
  const { context } = await aService();
  for (const part of ["airtime", "data"]) await purchasesRuns["purchases off"](context, { part, why: "ticket 97" });
  const { checks } = await doctorRuns.doctor(context, {});
  expect(checks.find(({ check }) => check === "selling")).toMatchObject({
    state: "look",
    todo: expect.stringContaining(" run purchases on --part airtime and purchases on --part data: "),
  });
});

test("the console's doctor skips what needs a secret, and a check that fails is a fault of its own", async () => {
  const facts = { sells: false, workers: "off", hasConsole: false } as const;
  const { ledger, context } = await aService({ facts });
  // It waited in the queue, and was sent just now.
  const waited = { created_at: isoTime(NOON_MS - HOUR_MS), sent_at: isoTime(NOON_MS) };
  await ledger.anOpenTransaction(await ledger.anAccount(2_000), waited);
  const { ok, checks } = await doctorRuns.doctor(context, {});
  expect(ok).toBe(false);
  expect(Object.fromEntries(checks.map(({ check, state, found }) => [check, `${state}: ${found}`]))).toMatchObject({
    selling: "wrong: purchases on, workers off: upstream events, outcomes and webhooks wait",
    "upstream key": "skipped: the stage serves test keys only",
    "upstream's webhook": "skipped: only the command admin doctor checks it",
    catalog: "ok: test keys get the built-in one",
    "dead letters": expect.stringMatching(/^wrong: could not be checked/),
    "stuck transactions": "ok: none",
    "success rates": "skipped: are counted in a stage with a console",
  });
});

test("upstream probe reports what the upstream accepts, and is recorded; without the test key nothing is sent or recorded", async () => {
  const { baseUrl, state } = await aSimulator();
  const probeWith = async (testKey: string | undefined) => {
    const secret = aSecret(testKey);
    const { context } = await aService({ probe: { baseUrl, profile: PROFILE, testKey: secret } });
    const run = upstreamRuns["upstream probe"](context, { why: "before the first sale" });
    const result = await run.catch((error: unknown) => error);
    return { result, audit: await readAudit(context.ledger, SERVICE) };
  };
  expect(await probeWith(undefined)).toMatchObject({ result: expect.any(OperatorError), audit: [] });
  expect(await probeWith(LIVE_KEY)).toMatchObject({ result: expect.any(OperatorError) });
  expect(state.requests).toEqual([]);
  const { result, audit } = await probeWith(TEST_KEY);
  expect(result).toMatchObject({ ok: true, findings: [], proposed: '{"reference":"all"}' });
  expect(audit).toMatchObject([{ action: "upstream probe", why: "before the first sale" }]);
  expect(state.purchases.every(({ mode }) => mode === "test")).toBe(true);
});
