import { type AccountTable, findAccount } from "../access/account-store.ts";
import { MINUTE_MS } from "../contract/values/durations.ts";
import { getItems } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { ALL_TIMES, dueParkedEndpointKeys, type OpenKey, queryOpen } from "../ledger/query-index.ts";
import { type EndpointKey, endpointKeyOf, parkedDeliveries } from "../ledger/schema.ts";
import { batchesOf } from "../platform/batches.ts";
import { type Deadline, deadlineWithin } from "../platform/deadline.ts";
import { errorFields, type LogFields, log } from "../platform/log.ts";
import { sum } from "../platform/sum.ts";
import { isoTime } from "../platform/time.ts";
import { REQUEUE_ENDPOINTS_MS_MAX, RUN_RESERVE_MS } from "../platform/time-budgets.ts";
import { isTransient } from "../platform/transient-error.ts";
import { type Delivery, deliverySchema, messageOf } from "./delivery.ts";
import { type DeliveryQueue, sendAll } from "./delivery-queue.ts";
import { type EndpointState, endpointState, isDown, readEndpointHealth } from "./endpoint-health.ts";
import { probeIntervalMs } from "./next-step.ts";
import {
  type NextRequeue,
  type ParkedEndpoint,
  readParkedEndpoint,
  scheduleRequeue,
  setNextRequeue,
} from "./parked-endpoint.ts";

export type RequeueDeps = {
  readonly ledger: Ledger;
  readonly accounts: AccountTable;
  readonly queue: DeliveryQueue;
};

/** Deliveries of one endpoint that a run reads, and so the most that it puts into the queue. */
export const DELIVERIES_PER_REQUEUE = 1_000;
/** The probe of an endpoint that is down is chosen among this many. */
const PROBE_CANDIDATES = 100;
const CONCURRENT_ENDPOINTS = 10;
/**
 * A delivery that was put into the queue and has no new attempt after this time is put there again. By then a message
 * that keeps failing is a dead letter, so that copies do not pile up while a fault of the service lasts.
 */
export const REQUEUE_AGAIN_MS = 420 * MINUTE_MS;
/** Deliveries that are due for longer raise an alarm, also if only AWS does not answer or no run had time for them. */
const OVERDUE_MS = 15 * MINUTE_MS;
/** An empty list is read again after the first of these, because the index lags; then daily. */
const EMPTY_FIRST_MS = 15 * MINUTE_MS;
const EMPTY_MS = 24 * 60 * MINUTE_MS;

/** Puts due parked deliveries back into the delivery queue; of an endpoint that is down, only one as a probe. */
export const requeueDeliveries = async (
  deps: RequeueDeps,
  deadline: Deadline,
): Promise<Omit<LogFields<"requeue-deliveries.ran">, "low_balances" | "near_limits">> => {
  const { ledger } = deps;
  const endpointsDeadline = deadlineWithin(deadline, REQUEUE_ENDPOINTS_MS_MAX, ledger.clock, RUN_RESERVE_MS);
  const total = { endpoints: 0, requeued: 0 };
  for await (const page of dueParkedEndpointKeys(ledger, isoTime(ledger.clock()))) {
    for (const keys of batchesOf(page, CONCURRENT_ENDPOINTS)) {
      if (endpointsDeadline.remainingMs() <= 0) {
        reportIfOverdue(ledger, keys);
        return total;
      }
      const requeued = await Promise.all(keys.map((key) => requeueSafely(deps, key)));
      total.endpoints += keys.length;
      total.requeued += sum(requeued);
    }
  }
  return total;
};

const isOverdue = ({ clock }: Ledger, { listed_at }: OpenKey): boolean => clock() - Date.parse(listed_at) > OVERDUE_MS;

/** The first of the endpoints that a run has no time for has been due for the longest. */
const reportIfOverdue = (ledger: Ledger, [first]: readonly OpenKey[]): void => {
  if (first === undefined || !isOverdue(ledger, first)) return;
  const { accountId: account, endpoint } = endpointKeyOf(first.pk);
  log.alarm("deliveries.not_requeued", { account, endpoint, reason: "out_of_time" });
};

/** A fault with one endpoint leaves it due, and does not delay the others. */
const requeueSafely = async (deps: RequeueDeps, due: OpenKey): Promise<number> => {
  const key = endpointKeyOf(due.pk);
  try {
    return await requeueEndpoint(deps, key);
  } catch (error) {
    const fields = { account: key.accountId, endpoint: key.endpoint, ...errorFields(error) };
    if (isTransient(error) && !isOverdue(deps.ledger, due)) log.warn("deliveries.requeue_delayed", fields);
    else log.alarm("deliveries.not_requeued", fields);
    return 0;
  }
};

/**
 * Puts the next parked deliveries of one endpoint into the queue and resolves with their number. The next requeue is set
 * after that: a crash in between puts them there twice.
 */
const requeueEndpoint = async ({ ledger, accounts, queue }: RequeueDeps, key: EndpointKey): Promise<number> => {
  const nowMs = ledger.clock();
  const parked = await readParkedEndpoint(ledger, key);
  // The index lags: another run has requeued them already.
  if (parked === undefined || parked.listed_at > isoTime(nowMs)) return 0;
  const [account, health] = await Promise.all([findAccount(accounts, key.accountId), readEndpointHealth(ledger, key)]);
  if (account === undefined) {
    await setNextRequeue(ledger, parked, () => ({ listed_at: isoTime(nowMs + EMPTY_MS) }));
    return 0;
  }
  const endpoint = account.endpoints.find(({ id }) => id === key.endpoint);
  const selection = selectionOf(endpoint && endpointState(endpoint, health));
  const isProbe = selection.kind === "probe";
  const limits = { oldest: isProbe ? PROBE_CANDIDATES : DELIVERIES_PER_REQUEUE };
  const start = isProbe ? undefined : parked.after;
  const { keys, next } = await queryOpen(ledger, parkedDeliveries(key), ALL_TIMES, start, limits);
  const deliveries = await readParked(ledger, key, keys);
  const chosen = chooseDeliveries(selection, deliveries, nowMs);
  await sendAll(
    queue,
    chosen.map((delivery) => ({ accountId: key.accountId, message: messageOf(delivery, isProbe ? "probe" : "due") })),
  );
  const page = {
    keys,
    next,
    waiting: deliveries.filter((delivery) => !chosen.includes(delivery)),
    sent: chosen.length,
  };
  await setNextRequeue(ledger, parked, (current) => nextRequeue(selection, current, page, nowMs));
  return chosen.length;
};

/**
 * Puts an endpoint's parked deliveries into the queue now, also those whose next attempt is later, because a person has
 * repaired or removed it. Resolves with their number. The run of the next minute repeats what is due, in case this process
 * dies; beyond the first thousand it sends what is due.
 */
export const requeueAtOnce = async (
  { ledger, queue }: Pick<RequeueDeps, "ledger" | "queue">,
  key: EndpointKey,
): Promise<number> => {
  const limits = { oldest: DELIVERIES_PER_REQUEUE };
  const { keys } = await queryOpen(ledger, parkedDeliveries(key), ALL_TIMES, undefined, limits);
  if (keys.length === 0) return 0;
  await scheduleRequeue(ledger, key, ledger.clock() + MINUTE_MS);
  const parked = await readParked(ledger, key, keys);
  await sendAll(
    queue,
    parked.map((delivery) => ({ accountId: key.accountId, message: messageOf(delivery, "early") })),
  );
  return parked.length;
};

/** A delivery that cannot be read stays parked, and does not hold back the others. */
const readParked = async (
  ledger: Ledger,
  { accountId: account, endpoint }: EndpointKey,
  keys: readonly OpenKey[],
): Promise<readonly Delivery[]> => {
  const deliveries = await getItems(ledger, keys, deliverySchema, (record, error) =>
    log.alarm("deliveries.not_requeued", { account, endpoint, record, ...errorFields(error) }),
  );
  return deliveries.filter(({ state, open }) => state === "pending" && open !== undefined);
};

/** What is put into the queue: one probe, what is due, or everything, so that it becomes `switched_off` or `removed`. */
export type Selection =
  | { readonly kind: "probe"; readonly failingSinceMs: number }
  | { readonly kind: "due" }
  | { readonly kind: "all" };

export const selectionOf = (endpoint: EndpointState | undefined): Selection => {
  if (endpoint === undefined || endpoint.status === "off") return { kind: "all" };
  const { failing } = endpoint;
  if (failing === undefined || !isDown(failing.events)) return { kind: "due" };
  return { kind: "probe", failingSinceMs: Date.parse(failing.since) };
};

/**
 * The probe is the due delivery with the fewest attempts, so that probes use up no delivery's attempts and one event
 * that the endpoint cannot handle does not hold back the others. Of several it is the oldest.
 */
export const chooseDeliveries = (
  { kind }: Selection,
  deliveries: readonly Delivery[],
  nowMs: number,
): readonly Delivery[] => {
  if (kind === "all") return deliveries;
  const due = deliveries.filter(
    ({ next_attempt_at }) => next_attempt_at === undefined || next_attempt_at <= isoTime(nowMs),
  );
  if (kind === "due") return due;
  return due.toSorted((one, other) => one.attempts.length - other.attempts.length).slice(0, 1);
};

/** What one requeue has read: keys of the index, where the list continues, and the deliveries that were not sent. */
export type RequeuePage = {
  readonly keys: readonly OpenKey[];
  readonly next: OpenKey | undefined;
  readonly waiting: readonly Pick<Delivery, "next_attempt_at">[];
  readonly sent: number;
};

export const nextRequeue = (
  selection: Selection,
  { rest_due_at, was_empty }: Pick<ParkedEndpoint, "rest_due_at" | "was_empty">,
  { keys, next, waiting, sent }: RequeuePage,
  nowMs: number,
): NextRequeue => {
  // A list that was read in several runs has a time for its first part.
  if (keys.length === 0 && rest_due_at === undefined) {
    return { listed_at: isoTime(nowMs + (was_empty ? EMPTY_MS : EMPTY_FIRST_MS)), was_empty: true };
  }
  // The next probe is chosen from the oldest deliveries again.
  if (selection.kind === "probe") {
    return { listed_at: isoTime(nowMs + probeIntervalMs(selection.failingSinceMs, nowMs)) };
  }
  const times = [rest_due_at, ...waiting.map(({ next_attempt_at }) => next_attempt_at)];
  if (sent > 0) times.push(isoTime(nowMs + REQUEUE_AGAIN_MS));
  // What is undefined is sorted last.
  const restDueAt = times.toSorted()[0] ?? isoTime(nowMs + EMPTY_FIRST_MS);
  // The list continues: so does the next run.
  if (next !== undefined) return { listed_at: isoTime(nowMs), after: next, rest_due_at: restDueAt };
  return { listed_at: restDueAt };
};
