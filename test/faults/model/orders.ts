import { expect } from "vitest";
import type { Route } from "../../../shared/contract/route.ts";
import type { Mode } from "../../../shared/contract/transaction.ts";
import { dateIn } from "../../../shared/contract/values/time-zone.ts";
import { pkOfReference, type Transaction } from "../../../shared/ledger/transaction.ts";
import type { Answer } from "../system/system.ts";
import {
  type ExpectedTransaction,
  expectedBalance,
  expectedKey,
  passesLimit,
  type Status,
} from "./expected-account.ts";
import {
  acceptStatus,
  type Caller,
  errorCodeOf,
  findTransaction,
  type InjectedFault,
  isReplay,
  mayWait,
  noteLimit,
  paceRequest,
  type Session,
  statusOf,
  withFault,
} from "./session.ts";

/** A purchase or a check, as a caller sends it. */
export type Order = {
  readonly route: Route;
  readonly mode: Mode;
  readonly reference: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly isCheck: boolean;
  readonly amountKobo: number;
  /** The status in its answer if no fault hits it; undefined where no transaction is made. */
  readonly expectedStatus: Status | undefined;
  /** The final status that the sandbox settles it with later. */
  readonly laterStatus: "success" | "failed" | undefined;
};

/** How many copies of an order are sent at the same time, and the fault that hits one of their effects. */
export type Submission = { readonly copies: number; readonly fault: InjectedFault | undefined };

const REPLAY_MS = 10 * 60_000;
/** A result expires at a whole second, and a request takes a moment. */
const EXPIRY_SLACK_MS = 5_000;

const dayOf = (atMs: number): string => dateIn(atMs, "Africa/Lagos");

/** Sends an order, and checks its answers and the transaction that it makes. */
export const submit = async (
  session: Session,
  caller: Caller,
  order: Order,
  { copies, fault }: Submission,
): Promise<void> => {
  const { route, mode, reference, body } = order;
  paceRequest(session);
  const key = expectedKey(mode, reference);
  const known = caller.expected.transactions.get(key);
  const balance = expectedBalance(caller.expected);
  const createdAtMs = Date.now();
  const day = dayOf(createdAtMs);
  const isBeyondLimit = mode === "live" && passesLimit(caller.expected, caller.keys.live, order.amountKobo, day);
  const couldWait = mode === "live" && !order.isCheck && mayWait(session);
  if (session.system.upstream.faults.list().length > 0) noteLimit(session);
  const answers: (Answer | undefined)[] = [];
  const isFaulty = await withFault(session, fault, async () => {
    const sent = Array.from({ length: copies }, () =>
      session.system.call(route, caller.keys[mode], { ...body, reference }),
    );
    answers.push(...(await Promise.all(sent)));
  });
  if (known !== undefined) {
    for (const answer of answers) if (!isFaulty || answer !== undefined) expectReplayOrConflict(known, order, answer);
    return;
  }
  if (isFaulty || dayOf(Date.now()) !== day) {
    const transaction = await acceptUncertain(session, caller, order, answers, createdAtMs);
    const isDebited = transaction !== undefined && transaction.debit === undefined;
    if (isBeyondLimit && dayOf(Date.now()) === day) expect(isDebited, "an order beyond a limit is debited").toBe(false);
    return;
  }
  const { expectedStatus } = order;
  const codes = [
    ...(expectedStatus === undefined ? sandboxRefusals : []),
    ...(mode === "live" && order.amountKobo > balance ? ["insufficient_balance"] : []),
    ...(isBeyondLimit ? ["limit_reached"] : []),
  ];
  if (expectedStatus === undefined || codes.length > 0) {
    if (isBeyondLimit) session.met.limited += 1;
    for (const answer of answers) expect(codes).toContain(answer && errorCodeOf(answer));
    return;
  }
  const pk = pkOfReference(answers[0]?.headers["x-transaction-reference"] ?? "") ?? "";
  const queued = couldWait ? await waitingOf(caller, order) : undefined;
  const waits = queued !== undefined;
  const isSetAside = waits && queued.number === undefined;
  const expected: ExpectedTransaction = {
    ...expectedTransaction(caller, order, waits ? "processing" : expectedStatus, pk, createdAtMs),
    ...(waits && { waits: { sentStatus: expectedStatus, isSetAside } }),
  };
  caller.expected.transactions.set(key, expected);
  if (mode === "live" && !order.isCheck) session.met.purchases += 1;
  if (waits) session.met.waited += 1;
  for (const answer of answers) {
    expectFirstAnswer(expected, answer);
    // Only the first answer says how long the order waits, about; nobody knows it of one that was set aside.
    const says = answer?.headers["x-estimated-delivery"] !== undefined;
    expect(says).toBe(waits && !isSetAside && answer !== undefined && !isReplay(answer));
  }
};

const waitingOf = async (caller: Caller, order: Order) => (await findTransaction(caller, order))?.queued;

/** The sandbox's answers before it makes a transaction. */
const sandboxRefusals = ["insufficient_balance", "provider_unavailable"];

const requestOf = ({ route, body }: Order): string => JSON.stringify([route.path, body]);

const expectedTransaction = (
  { keys }: Caller,
  order: Order,
  status: Status,
  pk: string,
  createdAtMs: number,
): ExpectedTransaction => ({
  pk,
  key: keys[order.mode],
  reference: order.reference,
  mode: order.mode,
  isCheck: order.isCheck,
  request: requestOf(order),
  amountKobo: order.amountKobo,
  status,
  nextStatuses: new Set(order.laterStatus === undefined ? [] : [order.laterStatus]),
  createdAtMs,
  day: dayOf(createdAtMs),
});

/** The answer to a new order. A simultaneous copy may still find the transaction open. */
const expectFirstAnswer = (expected: ExpectedTransaction, answer: Answer | undefined): void => {
  if (answer === undefined) throw new Error(`${expected.reference} was not answered`);
  const code = errorCodeOf(answer);
  if (code === undefined) {
    expect(isReplay(answer) ? ["processing", expected.status] : [expected.status]).toContain(statusOf(answer));
    return;
  }
  expect(expected.status).toBe("failed");
  expect(answer.headers["x-transaction-reference"]).toBeDefined();
  expected.errorCode ??= code;
  expect(code).toBe(expected.errorCode);
};

/** The answer to an order whose reference has a transaction. */
const expectReplayOrConflict = (known: ExpectedTransaction, order: Order, answer: Answer | undefined): void => {
  if (answer === undefined) throw new Error(`The second request for ${known.reference} was not answered`);
  const code = errorCodeOf(answer);
  if (known.request !== requestOf(order)) {
    expect(code).toBe("reference_reused");
    return;
  }
  if (known.status === "failed") {
    expect(code).toBe(known.errorCode);
    expect(isReplay(answer)).toBe(true);
    return;
  }
  if (code !== undefined) {
    expect(code).toBe("reference_reused");
    expect(known.isCheck && mayHaveExpired(known)).toBe(true);
    return;
  }
  expect(statusOf(answer)).toBe(known.status);
  expect(isReplay(answer)).toBe(true);
};

/** Whether the result of a check need not be replayed any more. */
const mayHaveExpired = ({ createdAtMs, isUncertain }: ExpectedTransaction): boolean =>
  isUncertain === true || Date.now() > createdAtMs + REPLAY_MS - EXPIRY_SLACK_MS;

/** After a fault, reads which transaction was made, and checks that it and the answers may be so. */
const acceptUncertain = async (
  session: Session,
  caller: Caller,
  order: Order,
  answers: readonly (Answer | undefined)[],
  createdAtMs: number,
): Promise<Transaction | undefined> => {
  const transaction = await findTransaction(caller, order);
  const received = answers.filter((answer) => answer !== undefined);
  if (transaction === undefined) {
    for (const answer of received) expect(errorCodeOf(answer), "an answer without a transaction").toBeDefined();
    return undefined;
  }
  const { expectedStatus } = order;
  const expected: ExpectedTransaction = {
    ...expectedTransaction(caller, order, "processing", transaction.pk, createdAtMs),
    ...(transaction.counted && { day: transaction.counted.day }),
    isUncertain: true,
  };
  if (expectedStatus !== undefined && expectedStatus !== "processing") expected.nextStatuses.add(expectedStatus);
  caller.expected.transactions.set(expectedKey(order.mode, order.reference), expected);
  acceptStatus(session, expected, transaction);
  // Errors for all copies mean that nothing is charged; an error for one of several does not.
  const isRefused = answers.every((answer) => answer !== undefined && errorCodeOf(answer) !== undefined);
  if (isRefused) expect(expected.status, "all answers were errors").toBe("failed");
  for (const answer of received) {
    if (errorCodeOf(answer) === undefined) expect(["processing", expected.status]).toContain(statusOf(answer));
  }
  return transaction;
};
