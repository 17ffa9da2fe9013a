import { expect } from "vitest";
import * as z from "#zod";
import { requireAccount } from "../../../shared/access/account-store.ts";
import { setAccountLimits } from "../../../shared/access/accounts.ts";
import { setKeyLimits } from "../../../shared/access/keys.ts";
import { REPORTED_DAYS_MAX } from "../../../shared/contract/actions/action.ts";
import type { OrderLimits } from "../../../shared/contract/order-limits.ts";
import type { Mode } from "../../../shared/contract/transaction.ts";
import { MINUTE_MS } from "../../../shared/contract/values/durations.ts";
import { dateIn, datesUntil } from "../../../shared/contract/values/time-zone.ts";
import { findByCallerReference, readTransactions } from "../../../shared/ledger/find-transactions.ts";
import { referenceOf, type Transaction } from "../../../shared/ledger/transaction.ts";
import { readWallet } from "../../../shared/ledger/wallet.ts";
import { readDays } from "../../../shared/margin/order-days.ts";
import { advanceSums } from "../../../shared/margin/order-sums.ts";
import { deadlineIn } from "../../../shared/platform/deadline.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { addEndpoint, enableEndpoint } from "../../../shared/webhooks/endpoint.ts";
import { enqueueRange } from "../../../tools/admin/enqueue-range.ts";
import { transactionsOf, violations } from "../invariants.ts";
import { closeTestAccount, deliverUntilIdle, resolveOpen, sendUntilNoneWaits } from "../recovery.ts";
import { advance } from "../system/clock.ts";
import { canHit, type Ending, type Fault, isFreezeEffect } from "../system/effects.ts";
import type { Answer, System } from "../system/system.ts";
import { type AppEndpoint, openTestAccount, type TestAccount, webhookRules } from "../test-account.ts";
import {
  type ExpectedAccount,
  type ExpectedTransaction,
  expectedBalance,
  expectedKey,
  newExpectedAccount,
  type Status,
} from "./expected-account.ts";

/** One program's run: two accounts, and how each should be. */
export type Session = {
  readonly system: System;
  readonly callers: readonly [Caller, Caller];
  /** Requests so far. */
  requests: number;
  /** What the program has met so far: a model that meets nothing proves nothing. */
  readonly met: Met;
  /** Until then orders may wait although no other order does: the upstream's limit refused one, or the sender ran. */
  mayWaitUntilMs: number;
};
/**
 * How many live purchases were made without a fault, how many of them waited, and how those ended that waited; and how
 * many orders were beyond a limit, and for how many the upstream was asked.
 */
export type Met = { purchases: number; waited: number; sent: number; refunded: number; limited: number; asked: number };
export const nothingMet = (): Met => ({ purchases: 0, waited: 0, sent: 0, refunded: 0, limited: 0, asked: 0 });

export type Caller = {
  readonly account: TestAccount;
  readonly expected: ExpectedAccount;
  readonly keys: Record<Mode, string>;
  /** The ids of its endpoints. */
  readonly endpoints: readonly string[];
  /** Those that were disabled for a while, so that webhooks may be missing. */
  readonly disabled: Set<string>;
};

/** The path of the first caller's second endpoint. The other caller has one alone: each costs a delivery for each event. */
export const SECOND_PATH = "/hook/second";

/** Little enough that orders are often beyond the balance. */
const FUNDED_NAIRA = 3_000;

export const openSession = async (system: System, endpoint: AppEndpoint): Promise<Session> => {
  const caller = async (
    own: { readonly limits: OrderLimits } | { readonly keyLimits: OrderLimits },
    url?: string,
  ): Promise<Caller> => {
    const account = await openTestAccount(system, endpoint, FUNDED_NAIRA);
    const { accountId, keys } = account;
    if (url !== undefined) await addEndpoint(system.endpoints, webhookRules, accountId, url);
    if ("limits" in own) await setAccountLimits(system.accounts, accountId, own.limits);
    else await setLiveKeyLimits(system, accountId, own.keyLimits);
    const expected = newExpectedAccount(FUNDED_NAIRA * 100, own);
    const { endpoints } = await requireAccount(system.accounts, accountId);
    return { account, expected, keys: { ...keys }, endpoints: endpoints.map(({ id }) => id), disabled: new Set() };
  };
  const second = new URL(SECOND_PATH, endpoint.url).href;
  return {
    system,
    callers: [await caller({ limits: { day_orders: 2 } }, second), await caller({ keyLimits: { day_naira: 4_000 } })],
    requests: 0,
    met: nothingMet(),
    mayWaitUntilMs: 0,
  };
};

/** Sets the limits of an account's live key. */
export const setLiveKeyLimits = async (
  { accounts }: Pick<System, "accounts">,
  accountId: string,
  limits: OrderLimits,
): Promise<void> => {
  const { keys } = await requireAccount(accounts, accountId);
  const live = keys.find(({ mode, status }) => mode === "live" && status === "active");
  if (live === undefined) throw new Error("The account has no live key");
  await setKeyLimits(accounts, accountId, live.key_id, limits);
};

/** A fault, and the effect, counted from 1, from which on it hits the first one that it can. */
export type InjectedFault = { readonly at: number; readonly fault: Fault };
/** An upstream that answered 429 gets no order for this long. */
const UPSTREAM_PAUSE_MS = 31_000;

/** The longest that a 429 and a run of the sender keep orders from being sent at once: 60 s and 90 s, and a cache. */
const LIMIT_KNOWN_MS = 3 * 60_000;

/** From now on orders may wait for a while: the upstream may have answered 429, or the sender has found queued orders. */
export const noteLimit = (session: Session): void => {
  session.mayWaitUntilMs = Date.now() + LIMIT_KNOWN_MS;
};

/** Whether an order that is placed now may have to wait. */
export const mayWait = ({ system, callers, mayWaitUntilMs }: Session): boolean =>
  system.upstream.faults.list().length > 0 ||
  Date.now() < mayWaitUntilMs ||
  callers.some(({ expected }) => [...expected.transactions.values()].some(isPossiblyWaiting));

const isPossiblyWaiting = ({ status, waits, isUncertain, mode, isCheck }: ExpectedTransaction): boolean =>
  status === "processing" && mode === "live" && !isCheck && (waits !== undefined || isUncertain === true);

/** Does some work under a fault. True if the fault hit an effect, or if AWS did what the emulators never do. */
export const withFault = async (
  session: Session,
  injected: InjectedFault | undefined,
  work: () => Promise<unknown>,
): Promise<boolean> => {
  const { system } = session;
  const before = system.strict()?.interventions();
  const hasIntervened = (): boolean => system.strict()?.interventions() !== before;
  if (injected === undefined) {
    await work();
    return hasIntervened();
  }
  let effects = 0;
  let isHit = false;
  system.plan = (effect) => {
    effects += 1;
    if (isHit || effects < injected.at || !canHit(effect, injected.fault)) return undefined;
    isHit = true;
    return injected.fault;
  };
  await work();
  system.plan = () => undefined;
  if (injected.fault === "throttled") {
    noteLimit(session);
    advance(UPSTREAM_PAUSE_MS);
  }
  // A connection that ended while its process was frozen changes no result.
  return (isHit && !isFreezeEffect(injected.fault)) || hasIntervened();
};

/** Sends a request that must be answered; undefined where AWS intervened and the answer is a server error or none. */
export const callWithoutFault = async (
  session: Session,
  ...request: Parameters<System["call"]>
): Promise<Answer | undefined> => {
  let answer: Answer | undefined;
  const hasIntervened = await withFault(session, undefined, async () => {
    answer = await session.system.call(...request);
  });
  if (hasIntervened && (answer === undefined || answer.statusCode >= 500)) return undefined;
  if (answer === undefined) throw new Error(`${request[0].path} was not answered`);
  return answer;
};

const COMMAND_ATTEMPTS_MAX = 20;

/** Runs an operator's command, again while AWS keeps it from ending. */
export const runUntilEnded = async <Result>(
  { system }: Session,
  command: () => Promise<Ending<Result>>,
): Promise<Ending<Result>> => {
  for (let attempt = 1; ; attempt += 1) {
    const before = system.strict()?.interventions();
    const ending = await command();
    const isEnded = ending.kind === "returned" || (ending.kind === "threw" && ending.error instanceof OperatorError);
    if (isEnded || attempt === COMMAND_ATTEMPTS_MAX || system.strict()?.interventions() === before) return ending;
  }
};

const REQUESTS_A_MINUTE = 25;
/** Keeps every key below its rate limit. */
export const paceRequest = (session: Session): void => {
  session.requests += 1;
  if (session.requests % REQUESTS_A_MINUTE === 0) advance(MINUTE_MS);
};

const transactionAnswer = z.object({ data: z.object({ transaction: z.object({ status: z.string() }) }) });
export const errorCodeOf = ({ headers }: Answer): string | undefined => headers["x-error-code"];
export const isReplay = ({ headers }: Answer): boolean => headers["idempotent-replayed"] === "true";
export const statusOf = ({ body }: Answer): string => transactionAnswer.parse(body).data.transaction.status;

/** The transaction under a caller's reference. */
export const findTransaction = (
  { account: { system, accountId } }: Caller,
  { mode, reference }: Pick<ExpectedTransaction, "mode" | "reference">,
): Promise<Transaction | undefined> =>
  findByCallerReference(system.ledger, system.keyedHashes, { accountId, mode }, reference);

const transactionsByKey = async ({ account }: Caller): Promise<ReadonlyMap<string, Transaction>> =>
  new Map(
    (await transactionsOf(account)).map((transaction) => [
      expectedKey(transaction.mode, transaction.caller_reference ?? ""),
      transaction,
    ]),
  );

/** The upstream's record of a transaction. */
export const upstreamOrderOf = ({ system }: Session, transaction: Transaction) =>
  system.upstream.purchases.find(({ reference }) => reference === referenceOf(transaction));

/** The final statuses that are right for a transaction whose request was hit by a fault. */
const statusesAfterFault = (
  session: Session,
  { isCheck }: ExpectedTransaction,
  transaction: Transaction,
): readonly Status[] => {
  if (isCheck || transaction.mode === "test") return ["success", "failed"];
  const order = upstreamOrderOf(session, transaction);
  if (order === undefined) return ["failed"];
  return order.status === "processing" ? [] : [order.status];
};

const WAITING_MS_MAX = 15 * 60_000;

/** The final statuses that are right for an order that waits, or waited. */
const statusesAfterWait = (
  { system }: Session,
  { createdAtMs, waits }: ExpectedTransaction,
  transaction: Transaction,
): readonly Status[] => {
  if (waits === undefined) return [];
  const reference = referenceOf(transaction);
  if (transaction.queued?.refusals !== undefined) waits.isSetAside = true;
  if (system.upstream.requests.some((request) => request.reference === reference)) return [waits.sentStatus];
  // After too many refusals of this very order, which the simulator does not record. It may have been set aside since the
  // model read it, but then it was claimed.
  if (waits.isSetAside || transaction.claim !== undefined) return ["failed"];
  return Date.now() > createdAtMs + WAITING_MS_MAX ? ["failed"] : [];
};

/** Reads the open transactions again, and accepts their statuses. */
export const acceptChanges = async (session: Session, { expected }: Caller): Promise<void> => {
  const open = [...expected.transactions.values()].filter(({ status }) => status === "processing");
  if (open.length === 0) return;
  const read = await readTransactions(session.system.ledger, open);
  const transactions = new Map(read.map((transaction) => [transaction.pk, transaction]));
  for (const one of open) {
    const transaction = transactions.get(one.pk);
    if (transaction === undefined) throw new Error(`${one.mode} ${one.reference} does not exist any more`);
    acceptStatus(session, one, transaction);
  }
};

/** Takes over the status of a transaction, which must be one that it may have. */
export const acceptStatus = (session: Session, expected: ExpectedTransaction, transaction: Transaction): void => {
  const allowed: Status[] = [expected.status, ...expected.nextStatuses];
  if (expected.isUncertain) allowed.push(...statusesAfterFault(session, expected, transaction));
  allowed.push(...statusesAfterWait(session, expected, transaction));
  expect(allowed, `the statuses that ${expected.mode} ${expected.reference} may have`).toContain(transaction.status);
  if (expected.waits !== undefined && expected.status !== transaction.status) {
    session.met[transaction.status === "failed" ? "refunded" : "sent"] += 1;
  }
  expected.status = transaction.status;
  if (transaction.failure !== undefined) {
    const { code } = transaction.failure;
    // Source: docs/interface.md 5.D8.
    expected.errorCode = code === "provider_unavailable" ? "delivery_failed" : code;
  }
};

/** Compares an account's transactions and balance with the expected ones. */
const compare = async (caller: Caller): Promise<void> => {
  const { system, accountId } = caller.account;
  const stored = [...(await transactionsByKey(caller))].map(
    ([key, { status, amount_kobo }]) => `${key} ${status} ${amount_kobo}`,
  );
  const expected = [...caller.expected.transactions].map(
    ([key, { status, amountKobo }]) => `${key} ${status} ${amountKobo}`,
  );
  expect(new Set(stored)).toEqual(new Set(expected));
  const { balance_kobo } = await readWallet(system.ledger, accountId);
  expect(balance_kobo).toBe(expectedBalance(caller.expected));
};

/** Expects the statuses that `resolveOpen` gave: those of the upstream, and `failed` for what it does not know. */
const expectResolved = async (session: Session, caller: Caller): Promise<void> => {
  const transactions = await transactionsByKey(caller);
  for (const [key, expected] of caller.expected.transactions) {
    const transaction = transactions.get(key);
    if (expected.status !== "processing" || expected.mode === "test" || transaction === undefined) continue;
    expected.status = upstreamOrderOf(session, transaction)?.status === "success" ? "success" : "failed";
  }
};

const ABANDONED_MS = 6 * MINUTE_MS;

/** Lets every transaction settle, and checks everything. */
export const endSession = async (session: Session): Promise<void> => {
  const { system, callers } = session;
  system.strict()?.calm();
  await deliverUntilIdle(system);
  await sendUntilNoneWaits(system);
  advance(ABANDONED_MS);
  await system.runSchedule("reconcile-ledger");
  await deliverUntilIdle(system);
  for (const caller of callers) await acceptChanges(session, caller);
  for (const caller of callers) {
    await resolveOpen(caller.account);
    await expectResolved(session, caller);
    await compare(caller);
  }
  await deliverUntilIdle(system);
  await enqueueMissingWebhooks(session);
  for (const { account } of callers) expect(await violations(account)).toEqual([]);
  await expectRefundClock(session);
  for (const { account } of callers) await closeTestAccount(account);
};

/** Expects the refund clock's counts to be those of a recount of all transactions. */
const expectRefundClock = async ({ system, callers }: Session): Promise<void> => {
  advance(2 * 60 * MINUTE_MS);
  const ledger = { ...system.ledger, timeZone: "Africa/Lagos" };
  const days = datesUntil(dateIn(ledger.clock(), ledger.timeZone), REPORTED_DAYS_MAX);
  for (const { account } of callers) {
    const { accountId } = account;
    await advanceSums(ledger, accountId, deadlineIn(MINUTE_MS));
    const counted = (await Array.fromAsync(readDays(ledger, [accountId], days)))
      .flat()
      .flatMap(({ type, network, ends }) =>
        ends.flatMap(({ end, cause, count }) => Array(count).fill(`${type} ${network} ${end} ${cause}`)),
      );
    const ended = (await transactionsOf(account)).filter(
      ({ mode, status, debit }) => mode === "live" && status !== "processing" && debit === undefined,
    );
    const recounted = ended.map((each) => {
      const spanMs = Date.parse(each.updated_at) - Date.parse(each.created_at);
      const within = spanMs <= 30_000 ? "30_s" : spanMs <= 24 * 60 * MINUTE_MS ? "24_h" : "later";
      const [end, cause] =
        each.resolved_by === "operator"
          ? ["resolved", "operator"]
          : each.status === "success"
            ? ["delivered", each.reported_by ?? "answer"]
            : ["refunded", each.reported_by ?? each.failure?.code];
      return `${each.type} ${each.network ?? null} ${end}_${within} ${cause}`;
    });
    expect(counted.toSorted()).toEqual(recounted.toSorted());
  }
};

/** Has an operator enqueue the webhooks of the time in which an endpoint was disabled. */
const enqueueMissingWebhooks = async ({ system, callers }: Session): Promise<void> => {
  const keys = callers.flatMap(({ account: { accountId }, disabled }) =>
    [...disabled].map((endpoint) => ({ accountId, endpoint })),
  );
  if (keys.length === 0) return;
  for (const key of keys) await enableEndpoint(system.endpoints, key);
  const { ledger, deliveryQueue: queue } = system;
  const always = { fromMs: 0, toMs: ledger.clock(), resendId: "missed" };
  await enqueueRange({ ledger, queue }, always);
  await deliverUntilIdle(system);
};
