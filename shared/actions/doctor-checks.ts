import * as z from "#zod";
import { accountSchema, accountText } from "../access/account-store.ts";
import { SELLABLE_AGE_MS_MAX } from "../catalog/snapshot.ts";
import { counted } from "../contract/values/counted.ts";
import { duration, HOUR_MS } from "../contract/values/durations.ts";
import { percentText } from "../contract/values/percent-text.ts";
import { openOrders } from "../ledger/find-transactions.ts";
import { ALL_TIMES, accountIdsOf } from "../ledger/query-index.ts";
import { OtherReferenceKeyError } from "../ledger/reference-key.ts";
import { isStuck, STUCK_MS } from "../ledger/transaction.ts";
import { hoursLeftText, readHoursLeft } from "../margin/float.ts";
import { readUpstreamRefusals, type StandingRefusal } from "../orders/upstream-refusal.ts";
import { isoTime } from "../platform/time.ts";
import { attentionAgeS } from "../queued-orders/queue-policy.ts";
import { readQueueLength, sendingText } from "../queued-orders/queued-orders-report.ts";
import { isBelowNorm, readSuccessRates } from "../statistics/success-rates.ts";
import { isUnrecognizedReason } from "../upstream/classify.ts";
import { UPSTREAM_BALANCE } from "../upstream/upstream.ts";
import { countOpenEvents } from "../upstream-events/stored-event.ts";
import { readEndpointFaults } from "../webhooks/endpoint-health.ts";
import { accountNamesOf, readAccounts } from "./accounts.ts";
import type { ActionContext } from "./action-context.ts";
import { countMessages } from "./dead-letters.ts";
import { type CheckResult, type DoctorCheck, lookInto, ok, skipped, wrong } from "./doctor-check-result.ts";
import { purchasesText, readPurchases } from "./purchases.ts";
import { readLowWallets } from "./wallet.ts";

/** A refresh is due each hour, and is tried each minute from then on. */
const CATALOG_LATE_MS = 1.25 * HOUR_MS;

const TEST_KEYS_ONLY = "the stage serves test keys only";
const WORKERS_OFF = "upstream events, outcomes and webhooks wait";

/** Purchases without workers debit wallets while refunds and events wait. */
export const selling: DoctorCheck = async ({ facts: { workers }, purchases: store }) => {
  const state = await readPurchases(store);
  const found = `${purchasesText(state)}, workers ${workers}`;
  const workersOn = 'Set workers to "on" in stages.ts and deploy; after a restore, once its steps are done';
  if (state.purchases === "on") {
    if (workers === "off") return wrong(`${found}: ${WORKERS_OFF}`, workersOn);
    if (state.parts.length === 0) return ok(found);
    const commands = state.parts.map(({ part }) => `purchases on --part ${part}`).toSorted();
    return lookInto(found, `Once the reason is gone, run ${commands.join(" and ")}: "Stop selling" in docs/runbook.md`);
  }
  const refused = "new orders are refused (503)";
  return workers === "on"
    ? lookInto(`${found}: ${refused}`, 'Once the reason is gone, run purchases on: "Stop selling" in docs/runbook.md')
    : lookInto(`${found}: ${refused}; ${WORKERS_OFF}`, `${workersOn}. Then run purchases on`);
};

/**
 * A stage calls the upstream from its own addresses only: a recent catalog shows that key and addresses work, unless an
 * order was refused since for one of these reasons.
 */
const acceptedWithCatalog = async (context: ActionContext, reasons: readonly string[]): Promise<CheckResult> => {
  const refusal = (await standingRefusals(context)).find(({ reason }) => reasons.includes(reason));
  if (refusal !== undefined) return refusedOrder(refusal, context.ledger.clock());
  const snapshot = await context.catalog.read();
  const ageMs = snapshot === undefined ? Number.POSITIVE_INFINITY : context.ledger.clock() - snapshot.fetchedAtMs;
  if (ageMs <= CATALOG_LATE_MS) return ok(`was accepted ${duration(ageMs)} ago, when the catalog was fetched`);
  return wrong(
    "no recent catalog was fetched with it",
    "Find catalog.refresh_failed in the log: status_401 is the key, status_403 our addresses (EgressIp outputs)",
  );
};

export const upstreamKey: DoctorCheck = (context) => acceptedWithCatalog(context, [UNAUTHORIZED, FORBIDDEN]);
export const upstreamAddress: DoctorCheck = (context) => acceptedWithCatalog(context, [FORBIDDEN]);

/** What the upstream did with the last orders, of which a fetched catalog says nothing. */
export const orders: DoctorCheck = async (context) => {
  if (!context.facts.sells) return skipped(TEST_KEYS_ONLY);
  const refusals = await standingRefusals(context);
  const [first] = refusals;
  if (first === undefined) return ok("the upstream accepts them");
  const nowMs = context.ledger.clock();
  const found = refusals.map(({ group, since, reason }) => {
    const what = group === "vtu" ? "purchase" : "identity check";
    const found = isUnrecognizedReason(reason) ? `the outcome of each ${what} is unknown` : `no ${what} got through`;
    return `for ${duration(nowMs - Date.parse(since))} ${found} (${reason})`;
  });
  return wrong(found.join("; "), todoAfter(first.reason));
};

/** The upstream does not know the key. */
const UNAUTHORIZED = "status_401";
/** Our address is not known at the upstream, or the key lacks a permission: the catalog may be free of both. */
export const FORBIDDEN = "status_403";

/**
 * For what no order gets through. A key that is refused with 401 gets no catalog either, so that a catalog that was
 * fetched since outweighs that.
 */
export const standingRefusals = async ({
  catalog,
  purchases: cache,
}: Pick<ActionContext, "catalog" | "purchases">): Promise<readonly StandingRefusal[]> => {
  const [refusals, snapshot] = await Promise.all([readUpstreamRefusals(cache), catalog.read()]);
  const fetchedAtMs = snapshot?.fetchedAtMs ?? 0;
  return refusals.filter(({ reason, refused_at }) => reason !== UNAUTHORIZED || Date.parse(refused_at) >= fetchedAtMs);
};

export const refusedOrder = ({ refused_at, reason }: StandingRefusal, nowMs: number): CheckResult =>
  wrong(`an order was refused ${duration(nowMs - Date.parse(refused_at))} ago (${reason})`, todoAfter(reason));

const todoAfter = (reason: string): string => {
  if (reason === UNAUTHORIZED) {
    return 'Run secrets set upstream-key: "Upstream key refused" in docs/runbook.md';
  }
  if (reason === FORBIDDEN) return "Ask the upstream whether the key may place orders from our addresses";
  if (reason === UPSTREAM_BALANCE) return 'Pay the upstream: "Upstream balance empty" in docs/runbook.md';
  if (isUnrecognizedReason(reason)) return 'Follow "Unrecognized answers" in docs/runbook.md';
  return "Ask the upstream";
};

/** A stage fetches the catalog itself: no command can. */
const CATALOG_REFUSED = 'Run catalog show and catalog diff: "Catalog refused" in docs/runbook.md';

export const catalog: DoctorCheck = async ({ facts, catalog, ledger }) => {
  const snapshot = await catalog.read();
  if (snapshot === undefined && !facts.sells) return ok("test keys get the built-in one");
  if (snapshot === undefined) return wrong("none has been fetched yet", CATALOG_REFUSED);
  const ageMs = ledger.clock() - snapshot.fetchedAtMs;
  const age = `${duration(ageMs)} old`;
  if (ageMs > SELLABLE_AGE_MS_MAX) return wrong(`${age}: too old to sell from`, CATALOG_REFUSED);
  if (ageMs > CATALOG_LATE_MS) return lookInto(`${age}: refreshes fail`, CATALOG_REFUSED);
  const { count } = snapshot.dropped;
  if (count > 0) {
    return lookInto(
      `${age}; invalid entries dropped: ${count}`,
      "Run catalog show and report the entries to the upstream",
    );
  }
  return ok(age);
};

export const REFERENCE_KEY = "reference key";

export const referenceKey: DoctorCheck = async ({ keyedHashes }) => {
  try {
    await keyedHashes();
    return ok("matches the ledger");
  } catch (error) {
    if (!(error instanceof OtherReferenceKeyError)) throw error;
    return wrong("is not the one that the ledger was written with", 'Follow "Reference key" in docs/runbook.md');
  }
};

const deadLetters: DoctorCheck = async (context) => {
  const counts = await Promise.all(
    Object.entries(context.queues.deadLetters).map(async ([name, url]) => ({
      name,
      count: await countMessages(context, url),
    })),
  );
  const filled = counts.filter(({ count }) => count > 0).map(({ name, count }) => `${name}: ${count}`);
  if (filled.length === 0) return ok("none");
  return wrong(filled.join(", "), 'Follow "Dead letters" in docs/runbook.md');
};

const stuck: DoctorCheck = async ({ ledger }) => {
  const nowMs = ledger.clock();
  const range = { from: ALL_TIMES.from, to: isoTime(nowMs - STUCK_MS) };
  const { length } = (await openOrders(ledger, range)).filter((order) => isStuck(order, nowMs));
  if (length === 0) return ok("none");
  return lookInto(`${length} open for more than 15 minutes`, 'Follow "Stuck purchase" in docs/runbook.md');
};

/** Of many orders the last is sent late, or refunded. */
const waiting: DoctorCheck = async (context) => {
  const { count, oldestS = 0, sendingS } = await readQueueLength(context);
  if (count === 0) return ok("none");
  const age = `${count === 1 ? "1 waits" : `${count} wait`} to be sent, the oldest for ${duration(oldestS * 1_000)}`;
  const todo = 'Follow "Queued orders" in docs/runbook.md';
  if (sendingS === undefined) return lookInto(`${age}; purchases are off: they are neither sent nor refunded`, todo);
  const found = `${age}; sending them takes ${sendingText(sendingS)}`;
  return Math.max(oldestS, sendingS) > attentionAgeS(context.queueMinutes) ? lookInto(found, todo) : ok(found);
};

const events: DoctorCheck = async ({ ledger }) => {
  const count = await countOpenEvents(ledger);
  if (count === 0) return ok("none");
  return lookInto(
    `${count === 1 ? "1 waits" : `${count} wait`} for an operator`,
    'Follow "Unmatched event" in docs/runbook.md',
  );
};

const float: DoctorCheck = async ({ ledger, floatAlarmHours }) => {
  const hoursLeft = await readHoursLeft(ledger);
  if (hoursLeft === undefined) return ok("no payment to the upstream is booked");
  const lasts = hoursLeft === 0 ? "is empty" : `lasts for ${hoursLeftText(hoursLeft)} at the pace of the last 24 hours`;
  const found = `${lasts}, by the latest hourly measurement`;
  return hoursLeft < floatAlarmHours ? lookInto(found, 'Follow "Float low" in docs/runbook.md') : ok(found);
};

const successRates: DoctorCheck = async ({ purchases: cache, ledger, facts }) => {
  if (!facts.hasConsole) return skipped("are counted in a stage with a console");
  const low = (await readSuccessRates(cache, ledger.clock())).filter(isBelowNorm);
  if (low.length === 0) return ok("as usual");
  const found = low.map(({ network, count, rate, norm }) => {
    const [now, usual] = [rate, norm].map((share) => percentText(share, 1));
    return `${network} delivered ${now} of the last ${count} orders, and ${usual} in the day before`;
  });
  return lookInto(found.join("; "), 'Follow "Low success rate" in docs/runbook.md');
};

const accountEndpointsSchema = z.pick(accountSchema, { pk: true, account_id: true, name: true, endpoints: true });

const endpoints: DoctorCheck = async ({ ledger }) => {
  const accounts = await readAccounts({ ledger }, await accountIdsOf(ledger), accountEndpointsSchema);
  const down = await readEndpointFaults(ledger, accounts);
  if (down.length === 0) return ok("none is down");
  const textOf = new Map(accounts.map((account) => [account.account_id, accountText(account)]));
  return lookInto(
    `down or switched off: ${down.map(({ account_id, name }) => `${name} of ${textOf.get(account_id)}`).join(", ")}`,
    'Follow "Webhook endpoint down" in docs/runbook.md',
  );
};

/** Names the accounts: no command lists them, and not every stage has a console. */
const wallets: DoctorCheck = async ({ ledger }) => {
  const low = await readLowWallets(ledger);
  if (low.length === 0) return ok("none is low");
  const ids = low.slice(0, WALLETS_NAMED).map(({ account_id }) => account_id);
  const nameOf = await accountNamesOf({ ledger }, ids);
  const named = ids.map((account_id) => accountText({ account_id, name: nameOf.get(account_id) ?? "" }));
  const others = low.length > named.length ? ` and ${counted(low.length - named.length, "other")}` : "";
  return lookInto(
    `below their threshold, the lowest first: ${named.join(", ")}${others}`,
    "Ask their teams to pay in: wallet fund credits a transfer",
    low.length,
  );
};
const WALLETS_NAMED = 10;

/** What waits, fails or runs low: the console and the command read the same. */
export const bookChecks: Readonly<Record<string, DoctorCheck>> = {
  "dead letters": deadLetters,
  "stuck transactions": stuck,
  "queued orders": waiting,
  events,
  float,
  "success rates": successRates,
  endpoints,
  wallets,
};

/** Needs a secret, or a permission in the whole AWS account, that no function has which people reach. */
const commandOnly: DoctorCheck = async () => skipped("only the command admin doctor checks it");

const ifSelling =
  (check: DoctorCheck): DoctorCheck =>
  async (context) =>
    context.facts.sells ? check(context) : skipped(TEST_KEYS_ONLY);

/** The checks of the console, by the names and in the order of the command's. */
export const consoleChecks: Readonly<Record<string, DoctorCheck>> = {
  selling,
  "upstream key": ifSelling(upstreamKey),
  address: ifSelling(upstreamAddress),
  orders,
  catalog,
  [REFERENCE_KEY]: referenceKey,
  "upstream's webhook": commandOnly,
  limits: commandOnly,
  consumers: commandOnly,
  alarms: commandOnly,
  ...bookChecks,
};
