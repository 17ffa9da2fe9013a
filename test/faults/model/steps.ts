import fc from "fast-check";
import { expect } from "vitest";
import { requireAccount } from "../../../shared/access/account-store.ts";
import { setAccountLimits, setAccountStatus } from "../../../shared/access/accounts.ts";
import { createKey, revokeKey, setKeyLimits } from "../../../shared/access/keys.ts";
import type { OrderLimits } from "../../../shared/contract/order-limits.ts";
import { permissionSchema } from "../../../shared/contract/permission.ts";
import { routes } from "../../../shared/contract/routes.ts";
import type { Mode } from "../../../shared/contract/transaction.ts";
import { koboFromNaira } from "../../../shared/contract/values/money.ts";
import { readTransaction, readTransactions } from "../../../shared/ledger/find-transactions.ts";
import { recordEntry } from "../../../shared/ledger/ledger-entry.ts";
import { isQueuedOrder, referenceOf, type Transaction } from "../../../shared/ledger/transaction.ts";
import { sealWallet } from "../../../shared/ledger/wallet-seal.ts";
import { writePurchasesSwitch } from "../../../shared/orders/purchases-switch.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { isoTime } from "../../../shared/platform/time.ts";
import { GATE_CACHE_MS } from "../../../shared/queued-orders/order-gate.ts";
import { resolveTransaction } from "../../../shared/upstream-events/operator-resolution.ts";
import { askNow, readLookupRecord } from "../../../shared/upstream-lookup/lookup-record.ts";
import { disableEndpoint, enableEndpoint, rotateWebhookSecret } from "../../../shared/webhooks/endpoint.ts";
import { transactionsOf } from "../invariants.ts";
import { sealUntil } from "../sealed-periods.ts";
import { advance } from "../system/clock.ts";
import { check, finalStatus, index, maybeFault, mode, orderChoices, purchase } from "./choices.ts";
import {
  type ExpectedTransaction,
  expectedBalance,
  expectedCheckStatus,
  expectedPurchaseStatus,
  nins,
  type PurchaseCase,
  phoneNumbers,
} from "./expected-account.ts";
import { submit } from "./orders.ts";
import {
  acceptChanges,
  type Caller,
  callWithoutFault,
  errorCodeOf,
  type InjectedFault,
  noteLimit,
  paceRequest,
  runUntilEnded,
  SECOND_PATH,
  type Session,
  setLiveKeyLimits,
  upstreamOrderOf,
  withFault,
} from "./session.ts";
import { always, programsOf, type Step, step } from "./step.ts";

/** The sandbox settles these itself; for live ones an event must come. */
const laterStatusOf = (of: Mode, outcome: PurchaseCase): "success" | "failed" | undefined => {
  if (of === "live") return undefined;
  if (outcome === "succeedsLater") return "success";
  return outcome === "failsLater" ? "failed" : undefined;
};

const DATA_KOBO = 500_00;
const CHECK_KOBO = 150_00;

const buyData = step({
  name: "buy data",
  weight: 5,
  choices: fc.record({ ...orderChoices, purchase }),
  given: always,
  act: ({ session, caller, choice }) =>
    submit(
      session,
      caller,
      {
        route: routes.buyData,
        mode: choice.mode,
        reference: choice.reference,
        body: { network_id: 1, plan_id: 101, phone_number: phoneNumbers[choice.purchase] },
        isCheck: false,
        amountKobo: DATA_KOBO,
        expectedStatus: expectedPurchaseStatus(choice.mode, choice.purchase),
        laterStatus: laterStatusOf(choice.mode, choice.purchase),
      },
      choice.submission,
    ),
});

const buyAirtime = step({
  name: "buy airtime",
  weight: 4,
  choices: fc.record({ ...orderChoices, purchase, naira: fc.constantFrom(50, 100.55, 250, 4_000) }),
  given: always,
  act: ({ session, caller, choice }) =>
    submit(
      session,
      caller,
      {
        route: routes.buyAirtime,
        mode: choice.mode,
        reference: choice.reference,
        body: { network: "mtn", amount: choice.naira, phone_number: phoneNumbers[choice.purchase] },
        isCheck: false,
        amountKobo: koboFromNaira(choice.naira),
        expectedStatus: expectedPurchaseStatus(choice.mode, choice.purchase),
        laterStatus: laterStatusOf(choice.mode, choice.purchase),
      },
      choice.submission,
    ),
});

const checkIdentity = step({
  name: "check an identity",
  weight: 4,
  choices: fc.record({ ...orderChoices, check }),
  given: always,
  act: ({ session, caller, choice }) =>
    submit(
      session,
      caller,
      {
        route: routes.verifyNin,
        mode: choice.mode,
        reference: choice.reference,
        body: { nin: nins[choice.check], is_consent: true },
        isCheck: true,
        amountKobo: CHECK_KOBO,
        expectedStatus: expectedCheckStatus(choice.mode, choice.check),
        laterStatus: undefined,
      },
      choice.submission,
    ),
});

const sendInvalidBody = step({
  name: "send an invalid body",
  weight: 2,
  choices: fc.record({
    mode,
    sent: fc.constantFrom(
      [{ network_id: 1, plan_id: "101", phone_number: phoneNumbers.delivered }, "validation_failed"],
      [{ network_id: 1, plan_id: 101 }, "missing_parameter"],
      [{ network_id: 1, plan_id: 101, phone_number: "+2348031234567" }, "validation_failed"],
      [{ network_id: 1, plan_id: 999_999, phone_number: phoneNumbers.delivered }, "plan_unavailable"],
      [[], "invalid_json"],
    ),
  }),
  given: always,
  act: ({ session, caller, choice: { mode: of, sent } }) => {
    paceRequest(session);
    return callWithoutFault(session, routes.buyData, caller.keys[of], sent[0]);
  },
  check: ({ choice: { sent } }, _given, answer) => {
    if (answer !== undefined) expect(errorCodeOf(answer)).toBe(sent[1]);
  },
});

const addLedgerEntry = step({
  name: "add a ledger entry",
  weight: 2,
  // Few ids, so that an operator often runs the same command again; the same id always has the same amount.
  choices: fc.record({
    id: fc.integer({ min: 1, max: 30 }),
    naira: fc.constantFrom(-3_000, -20, 100, 1_000, 2_500),
    fault: maybeFault,
  }),
  given: ({ caller: { expected }, choice: { id, naira } }) => {
    const kind = naira < 0 ? ("adjustment" as const) : ("funding" as const);
    const entryId = `${kind}-${id}`;
    const amountKobo = naira * 100;
    const isKnown = expected.ledgerEntries.has(entryId);
    return { kind, entryId, amountKobo, isKnown, isCovered: expectedBalance(expected) + amountKobo >= 0 };
  },
  act: async ({ session, system, caller, choice: { fault } }, { kind, entryId, amountKobo }) => {
    const { accountId } = caller.account;
    const entry = {
      kind,
      account_id: accountId,
      entry_id: `${entryId}-${accountId}`,
      amount_kobo: amountKobo,
      why: "for the test",
    };
    const command = () => system.run(() => recordEntry(system.ledger, entry));
    await withFault(session, fault, command);
    return runUntilEnded(session, command);
  },
  check: ({ caller: { expected } }, { entryId, amountKobo, isKnown, isCovered }, ending) => {
    const kinds = isKnown || isCovered ? ["recorded", "already_recorded"] : ["insufficient_balance"];
    expect(kinds).toContain(ending.kind === "returned" ? ending.result.kind : ending.kind);
    if (!isKnown && isCovered) expected.ledgerEntries.set(entryId, amountKobo);
  },
});

const sealPeriod = step({
  name: "seal a period",
  weight: 2,
  // A clock may be so much behind that of who seals.
  choices: fc.record({ agoMs: fc.constantFrom(-5_000, 0, 1_000, 30_000), fault: maybeFault }),
  given: always,
  act: ({ session, system, caller: { account }, choice: { agoMs, fault } }) =>
    sealUntil(account, Date.now() - agoMs, async (to) => {
      const command = () => system.run(() => sealWallet(system.ledger, account.accountId, to));
      await withFault(session, fault, command);
      await runUntilEnded(session, command);
    }),
});

/** An expected transaction with its item and the upstream's order; undefined if one of the three is missing. */
const pickOrder = async (
  session: Session,
  { expected }: Caller,
  at: number,
  isEligible: (transaction: ExpectedTransaction) => boolean,
) => {
  const eligible = [...expected.transactions.values()].filter(isEligible);
  const picked = eligible[at % Math.max(1, eligible.length)];
  const transaction = picked && (await readTransaction(session.system.ledger, picked.pk));
  const order = transaction && upstreamOrderOf(session, transaction);
  return picked && transaction && order ? { expected: picked, transaction, order } : undefined;
};

const sendUpstreamEvent = step({
  name: "send an upstream event",
  weight: 4,
  choices: fc.record({ index, status: finalStatus, copies: fc.constantFrom(1, 1, 2), fault: maybeFault }),
  given: ({ session, caller, choice }) =>
    pickOrder(session, caller, choice.index, ({ mode: of, isCheck }) => of === "live" && !isCheck),
  act: async ({ session, system, choice }, { expected, transaction, order }) => {
    system.upstream.settle(order, choice.status);
    const settled = order.status === "failed" ? "failed" : "success";
    // An upstream may contradict only a final status that the ledger has already.
    const status = expected.status === "processing" ? settled : choice.status;
    // A `failed` without a known reference is never matched.
    const isMatched = transaction.upstream_reference !== undefined || status === "success";
    if (expected.status === "processing" && isMatched) expected.nextStatuses.add(status);
    for (let copy = 0; copy < choice.copies; copy += 1) {
      await withFault(session, choice.fault, () => system.sendEvent(order, status));
    }
  },
});

/** Its amount and phone number are of no order, so that no heuristic matches it. */
const unknownOrder = {
  path: "/vtu",
  type: "data",
  reference: null,
  mode: "live",
  keyUsed: "",
  networkName: "MTN",
  amountKobo: 77_700,
  status: "success",
  phoneNumber: "09012345678",
  body: {},
} as const;
const sendUnknownEvent = step({
  name: "send an event of an unknown order",
  weight: 1,
  choices: finalStatus,
  given: always,
  act: async ({ system, choice: status }) => {
    const upstreamReference = `UNKNOWN_${Math.random()}`;
    await system.sendEvent({ ...unknownOrder, upstreamReference, at: new Date().toISOString() }, status);
  },
});

/** Resolves a transaction, with a fault or without; then again without one, until the command has an end. */
const resolveUntilEnded = async (
  session: Session,
  transaction: Transaction,
  status: "success" | "failed",
  fault: InjectedFault | undefined,
) => {
  const { system } = session;
  const decision = { by: "operator", why: "for the test" };
  const command = () => system.run(() => resolveTransaction(system.ledger, transaction, status, decision));
  await withFault(session, fault, command);
  return runUntilEnded(session, command);
};

/** A resolution may be refused, and in no other way fail. */
const acceptResolution = async (
  { session, caller }: { readonly session: Session; readonly caller: Caller },
  _given: unknown,
  ending: Awaited<ReturnType<typeof resolveUntilEnded>>,
): Promise<void> => {
  if (ending.kind === "threw") expect(ending.error).toBeInstanceOf(OperatorError);
  await acceptChanges(session, caller);
};

const resolve = step({
  name: "resolve a transaction",
  weight: 1,
  choices: fc.record({ index, fault: maybeFault }),
  given: async ({ session, caller, choice }) => {
    const isOpen = ({ status, mode: of }: ExpectedTransaction) => status === "processing" && of === "live";
    const picked = await pickOrder(session, caller, choice.index, isOpen);
    if (picked?.transaction.status !== "processing") return undefined;
    return picked.transaction.upstream_reference === undefined ? undefined : picked;
  },
  act: async ({ session, system, choice: { fault } }, { expected, transaction, order }) => {
    system.upstream.settle(order, "success");
    const status = order.status === "failed" ? "failed" : "success";
    expected.nextStatuses.add(status);
    return resolveUntilEnded(session, transaction, status, fault);
  },
  check: acceptResolution,
});

const acceptAllChanges = async ({ session }: { readonly session: Session }): Promise<void> => {
  for (const caller of session.callers) await acceptChanges(session, caller);
};

const deliver = step({
  name: "deliver from the event sources",
  weight: 4,
  choices: fc.record({ concurrency: fc.constantFrom("sequential", "concurrent"), fault: maybeFault }),
  given: always,
  act: ({ session, system, choice }) =>
    withFault(session, choice.fault, () => system.eventSources.deliver(choice.concurrency)),
  check: acceptAllChanges,
});

const runSchedule = step({
  name: "run a schedule",
  weight: 1,
  choices: fc.record({
    schedule: fc.constantFrom("reconcile-ledger", "refresh-catalog", "requeue-deliveries"),
    fault: maybeFault,
  }),
  given: always,
  act: ({ session, system, choice }) => withFault(session, choice.fault, () => system.runSchedule(choice.schedule)),
  check: acceptAllChanges,
});

const refuseByLimit = step({
  name: "have the upstream's limit refuse orders",
  weight: 1,
  choices: fc.constantFrom(1, 2, 4),
  given: always,
  act: ({ system, choice: times }) => {
    system.upstream.faults.add({ kind: "rate_limited", path: "/vtu", method: "POST", times, retry_after_s: 60 });
  },
});

const refuseOrders = step({
  name: "have the upstream refuse orders by themselves",
  weight: 1,
  choices: fc.constantFrom(1, 2, 5),
  given: always,
  act: ({ system, choice: times }) => {
    system.upstream.faults.add({ kind: "status", path: "/vtu", method: "POST", times, status: 429 });
  },
});

/** The sender runs each minute; a limit that it knows of is free again by then. */
const OVER_A_MINUTE_MS = 61_000;

const sendWaiting = step({
  name: "run the sender of queued orders",
  weight: 5,
  choices: fc.record({ runs: fc.constantFrom(1, 1, 2), fault: maybeFault }),
  given: always,
  act: async ({ session, system, choice: { runs, fault } }) => {
    advance(OVER_A_MINUTE_MS);
    const run = () => Promise.all(Array.from({ length: runs }, () => system.runSchedule("send-queued-orders")));
    const isFaulty = await withFault(session, fault, run);
    noteLimit(session);
    const waiting = session.callers.flatMap(({ expected }) =>
      [...expected.transactions.values()].filter(({ status, waits }) => status === "processing" && waits !== undefined),
    );
    if (isFaulty) for (const expected of waiting) expected.isUncertain = true;
  },
  check: acceptAllChanges,
});

/** What a lookup has instead of the order's own fields; `unknown`: the upstream does not list the order. */
const lookups = {
  own: {},
  ofAnotherNumber: { phone_number: "09012345678" },
  ofAnotherOrder: { client_reference: "DATA_OTHER" },
  open: { status: "processing" },
  unknown: undefined,
} as const;

/** A run asks for every order that is due: each may end as the upstream has ended it. */
const expectOutcomes = async (session: Session, except: string | undefined): Promise<void> => {
  for (const { expected } of session.callers) {
    const open = [...expected.transactions.values()].filter(
      ({ mode: of, isCheck, status, pk }) => of === "live" && !isCheck && status === "processing" && pk !== except,
    );
    const stored = new Map((await readTransactions(session.system.ledger, open)).map((each) => [each.pk, each]));
    for (const one of open) {
      const transaction = stored.get(one.pk);
      const { status } = (transaction && upstreamOrderOf(session, transaction)) ?? {};
      if (status === "success" || status === "failed") one.nextStatuses.add(status);
    }
  }
};

const askUpstream = step({
  name: "ask the upstream for open orders",
  weight: 5,
  choices: fc.record({
    index,
    status: finalStatus,
    answer: fc.constantFrom("own", "own", "ofAnotherNumber", "ofAnotherOrder", "open", "unknown"),
    fault: maybeFault,
  }),
  given: ({ session, caller, choice }) =>
    pickOrder(
      session,
      caller,
      choice.index,
      ({ mode: of, isCheck, status }) => of === "live" && !isCheck && status === "processing",
    ),
  act: async ({ session, system, choice: { status, answer, fault } }, { transaction, order }) => {
    const { upstream } = system;
    upstream.settle(order, status);
    const reference = referenceOf(transaction);
    const changes = lookups[answer];
    if (changes === undefined) upstream.unlisted.add(reference);
    else upstream.lookupChanges.set(reference, changes);
    const cache = { db: system.db, table: system.cacheTable };
    await askNow(cache, transaction, Date.now());
    advance(OVER_A_MINUTE_MS);
    const isFaulty = await withFault(session, fault, () => system.runSchedule("ask-upstream"));
    await expectOutcomes(session, answer === "own" ? undefined : transaction.pk);
    upstream.unlisted.delete(reference);
    upstream.lookupChanges.delete(reference);
    return { isFaulty, finding: (await readLookupRecord(cache, transaction))?.finding };
  },
  // The answer waits in the queue until a later step delivers it, and an event may come first.
  check: async ({ session, choice: { answer } }, { expected, transaction, order }, { isFaulty, finding }) => {
    if (!isFaulty && transaction.status === "processing" && !isQueuedOrder(transaction)) {
      const findings = {
        own: order.status,
        ofAnotherNumber: "another_order",
        ofAnotherOrder: "another_order",
        open: "open",
        unknown: "not_found",
      };
      expect(finding, `what the upstream said of ${expected.reference}`).toBe(findings[answer]);
    }
    if (finding !== undefined) session.met.asked += 1;
    await acceptAllChanges({ session });
  },
});

const sendWaitingWhileOff = step({
  name: "run the sender while purchases are off",
  weight: 1,
  choices: fc.constant(null),
  given: ({ system }) => system.upstream.requests.length,
  act: async ({ session, system }) => {
    const store = { db: system.db, table: system.cacheTable, initially: "on" } as const;
    const flip = async (purchases: "on" | "off"): Promise<void> => {
      await writePurchasesSwitch(store, { purchases, since: isoTime(Date.now()), by: "operator" });
      advance(GATE_CACHE_MS);
    };
    await flip("off");
    await withFault(session, undefined, () => system.runSchedule("send-queued-orders"));
    await flip("on");
  },
  check: async ({ session, system }, requests) => {
    expect(system.upstream.requests.length).toBe(requests);
    for (const { expected } of session.callers) {
      const open = [...expected.transactions.values()].filter(({ status }) => status === "processing");
      const stored = await readTransactions(system.ledger, open);
      for (const { status, mode: of } of stored) if (of === "live") expect(status).toBe("processing");
    }
  },
});

const sendWaitingWhileRestricted = step({
  name: "run the sender while an account is restricted",
  weight: 1,
  choices: fc.constant(null),
  given: always,
  act: async ({ session, system, caller }) => {
    const { accountId } = caller.account;
    const setStatus = (status: "active" | "restricted") =>
      runUntilEnded(session, () => system.run(() => setAccountStatus(system.accounts, accountId, status)));
    const references = new Set((await transactionsOf(caller.account)).map(referenceOf));
    const sent = () => system.upstream.requests.filter(({ reference }) => references.has(reference ?? "")).length;
    await setStatus("restricted");
    const before = sent();
    advance(OVER_A_MINUTE_MS);
    await withFault(session, undefined, () => system.runSchedule("send-queued-orders"));
    noteLimit(session);
    expect(sent()).toBe(before);
    await setStatus("active");
  },
  check: acceptAllChanges,
});

const resolveWaiting = step({
  name: "resolve a queued order",
  weight: 1,
  choices: fc.record({ index, status: finalStatus, fault: maybeFault }),
  given: async ({ system, caller: { expected }, choice }) => {
    const waiting = [...expected.transactions.values()].filter(({ waits }) => waits !== undefined);
    const picked = waiting[choice.index % Math.max(1, waiting.length)];
    const transaction = picked && (await readTransaction(system.ledger, picked.pk));
    return picked && transaction && isQueuedOrder(transaction) ? { expected: picked, transaction } : undefined;
  },
  act: async ({ session, choice: { status, fault } }, { expected, transaction }) => {
    if (status === "failed") expected.nextStatuses.add("failed");
    return resolveUntilEnded(session, transaction, status, fault);
  },
  check: acceptResolution,
});

const wait = step({
  name: "wait",
  weight: 2,
  choices: fc.constantFrom(1_000, 6_000, 61_000, 4 * 60_000, 11 * 60_000),
  given: always,
  act: ({ choice: ms }) => advance(ms),
});

const readWallet = step({
  name: "read the wallet",
  weight: 1,
  choices: fc.constant(null),
  given: always,
  act: ({ session, caller }) => {
    paceRequest(session);
    return callWithoutFault(session, routes.getWallet, caller.keys.live, undefined);
  },
  check: ({ caller }, _given, answer) => {
    const balance = expectedBalance(caller.expected) / 100;
    if (answer !== undefined) expect(answer.body.data).toMatchObject({ wallet: { balance } });
  },
});

const readOneTransaction = step({
  name: "read a transaction",
  weight: 2,
  choices: index,
  given: ({ caller: { expected }, choice }) =>
    [...expected.transactions.values()][choice % Math.max(1, expected.transactions.size)],
  act: ({ session, caller }, { mode: of, reference }) => {
    paceRequest(session);
    const path = `/v1/transactions/${reference}`;
    return callWithoutFault(session, routes.getTransaction, caller.keys[of], undefined, path);
  },
  check: (_context, { reference, amountKobo, status }, answer) => {
    const transaction = { caller_reference: reference, amount: amountKobo / 100, status };
    if (answer !== undefined) expect(answer.body.data).toMatchObject({ transaction });
  },
});

const replaceKey = step({
  name: "replace a key",
  weight: 1,
  choices: mode,
  given: ({ caller, choice: of }) => caller.keys[of],
  act: async ({ session, system, caller, choice: of }, oldKey) => {
    const { accountId } = caller.account;
    const created = await createKey(system.accounts, accountId, { mode: of, permissions: permissionSchema.options });
    const { keys } = await requireAccount(system.accounts, accountId);
    const isOld = (key: (typeof keys)[number]) =>
      key.mode === of && key.status === "active" && key.key_id !== created.keyId;
    for (const { key_id } of keys.filter(isOld)) await revokeKey(system.accounts, accountId, key_id);
    caller.keys[of] = created.key;
    if (of === "live" && caller.expected.keyLimits !== undefined) {
      await setKeyLimits(system.accounts, accountId, created.keyId, caller.expected.keyLimits);
    }
    return callWithoutFault(session, routes.getWallet, oldKey, undefined);
  },
  check: (_context, _given, answer) => {
    if (answer !== undefined) expect(errorCodeOf(answer)).toBe("invalid_api_key");
  },
});

const changeLimits = step({
  name: "change the limits of an account, or of the key that has some",
  weight: 1,
  choices: fc.constantFrom<OrderLimits>(
    { day_naira: 1_000 },
    { day_naira: 3_000, month_orders: 20 },
    { day_orders: 4, order_naira: 3_000 },
    { month_naira: 8_000 },
  ),
  given: always,
  act: async ({ system, caller: { expected, account }, choice: limits }) => {
    const of = expected.limits === undefined ? "keyLimits" : "limits";
    expected[of] = limits;
    if (of === "limits") await setAccountLimits(system.accounts, account.accountId, limits);
    else await setLiveKeyLimits(system, account.accountId, limits);
  },
});

const changeEndpoint = step({
  name: "change a webhook endpoint",
  weight: 1,
  // Rarely disabled: what it misses is enqueued again only at the end.
  choices: fc.record({
    isLast: fc.boolean(),
    change: fc.oneof(
      { weight: 1, arbitrary: fc.constant("disable") },
      { weight: 20, arbitrary: fc.constantFrom("enable", "rotate its secret") },
    ),
  }),
  given: always,
  act: async ({ system: { endpoints }, caller, choice: { isLast, change } }) => {
    const endpoint = caller.endpoints.at(isLast ? -1 : 0) ?? "";
    const key = { accountId: caller.account.accountId, endpoint };
    if (change === "disable") {
      caller.disabled.add(endpoint);
      await disableEndpoint(endpoints, key);
    }
    if (change === "enable") await enableEndpoint(endpoints, key);
    if (change === "rotate its secret") await rotateWebhookSecret(endpoints, key);
  },
});

const failEndpoint = step({
  name: "have all endpoints fail, or the second one alone",
  weight: 1,
  choices: fc.record({ count: fc.constantFrom(1, 3, 8), path: fc.constantFrom(undefined, SECOND_PATH) }),
  given: always,
  act: ({ caller, choice: { count, path } }) => caller.account.receiver.failNext(count, path),
});

const steps: readonly Step[] = [
  buyData,
  buyAirtime,
  checkIdentity,
  sendInvalidBody,
  addLedgerEntry,
  sealPeriod,
  sendUpstreamEvent,
  sendUnknownEvent,
  resolve,
  deliver,
  failEndpoint,
  runSchedule,
  refuseByLimit,
  refuseOrders,
  askUpstream,
  sendWaiting,
  sendWaitingWhileOff,
  sendWaitingWhileRestricted,
  resolveWaiting,
  wait,
  readWallet,
  readOneTransaction,
  replaceKey,
  changeLimits,
  changeEndpoint,
];

/** Programs of what callers, operators, the upstream, time and faults may do. */
export const programs = (stepsMax: number) => programsOf(steps, stepsMax);
