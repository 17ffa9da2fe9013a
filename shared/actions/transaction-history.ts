import * as z from "#zod";
import { type Account, accountSchema } from "../access/account-store.ts";
import { deliveryStateTexts } from "../contract/actions/deliveries.ts";
import { type LookupFinding, lookupFindingTexts } from "../contract/actions/transactions.ts";
import { eventStateTexts } from "../contract/actions/upstream-events.ts";
import { attemptText } from "../contract/attempt-outcome.ts";
import { deliveredId, refundName } from "../contract/corrections.ts";
import { eventReasonTexts } from "../contract/event-reasons.ts";
import type { TransactionStatus } from "../contract/transaction.ts";
import { duration } from "../contract/values/durations.ts";
import { koboMoneyText } from "../contract/values/money.ts";
import { timeIn } from "../contract/values/time-zone.ts";
import { type AuditEntry, readAuditAbout, readTransactionAudit, SERVICE } from "../ledger/audit.ts";
import { getItems } from "../ledger/get-item.ts";
import { type LedgerEntry, readAdjustment } from "../ledger/ledger-entry.ts";
import { deliveryPk } from "../ledger/schema.ts";
import { isFinalStatus, isIdentityCheck, isQueuedOrder, referenceOf, type Transaction } from "../ledger/transaction.ts";
import { eventSummary, listEvents, type StoredEvent, storedEventId } from "../upstream-events/stored-event.ts";
import { type Delivery, deliverySchema } from "../webhooks/delivery.ts";
import { SANDBOX_REPEAT } from "../webhooks/enqueue-webhook.ts";
import { endpointsMadeSchema, readAccounts } from "./accounts.ts";
import { type ActionContext, isForOwner } from "./action-context.ts";
import { auditSentence } from "./audit-sentence.ts";

/** The subject of the audit entries of the command `announce`. */
export const ANNOUNCE = "announce";

/** The subject of the audit entries of the action `deliveries recover`. */
export const RECOVER = "recover";

/**
 * The webhook deliveries of one transaction, oldest first, by their keys: an account has more deliveries than a request
 * can read. What sends a webhook again is in the audit log before it does.
 */
export const deliveriesOf = async (
  context: Pick<ActionContext, "ledger">,
  { pk: transaction, account_id, status, created_at }: Transaction,
): Promise<readonly Delivery[]> => {
  const { ledger } = context;
  const [repeats, announced, accounts] = await Promise.all([
    repeatsOf(context, account_id, transaction, created_at),
    readAuditAbout(ledger, [SERVICE], ANNOUNCE, created_at),
    readAccounts(context, [account_id], endpointsMadeSchema),
  ]);
  return readDeliveries(
    ledger,
    [undefined, SANDBOX_REPEAT, ...repeats, ...namesIn(announced)].flatMap((repeat) =>
      endpointIdsOf(accounts).map((endpoint) => deliveryPk({ endpoint, transaction_pk: transaction, status, repeat })),
    ),
  );
};

/** The ids of all endpoints that these accounts ever had: deliveries outlast their endpoints. */
export const endpointIdsOf = (accounts: readonly Pick<Account, "endpoints_made">[]): readonly string[] =>
  Array.from({ length: Math.max(0, ...accounts.map((account) => account.endpoints_made)) }, (_, index) =>
    String(index + 1),
  );

/** The names of the resends of what an account was sent, of this subject or with all that failed. */
export const repeatsOf = async (
  { ledger }: Pick<ActionContext, "ledger">,
  accountId: string,
  subject: string,
  from: string,
): Promise<readonly string[]> => {
  const [replays, recoveries] = await Promise.all(
    [subject, RECOVER].map((about) => readAuditAbout(ledger, [accountId], about, from)),
  );
  const repeats = replays?.flatMap(({ details: { repeat } }) => (repeat === undefined ? [] : [String(repeat)]));
  return [...(repeats ?? []), ...namesIn(recoveries ?? [])];
};

const namesIn = (entries: readonly AuditEntry[]): readonly string[] =>
  entries.map(({ details: { name } }) => String(name));

/** The deliveries that have these keys, oldest first. */
export const readDeliveries = async (
  ledger: ActionContext["ledger"],
  pks: readonly string[],
): Promise<readonly Delivery[]> => {
  const deliveries = await getItems(ledger, pks, deliverySchema);
  return deliveries.toSorted((one, other) => (one.created_at < other.created_at ? -1 : 1));
};

/** The stored events about a transaction. */
export const eventsAbout = <Event extends StoredEvent>(
  events: readonly Event[],
  { pk, upstream_reference }: Transaction,
): readonly Event[] =>
  events.filter(
    ({ transaction_pk, reference }) =>
      transaction_pk === pk || (upstream_reference !== undefined && reference === upstream_reference),
  );

type Step = { readonly at: string; readonly what: string; readonly details: string };
type Lookup = {
  readonly asked_at: string;
  readonly asked: number;
  readonly finding: LookupFinding;
  readonly details: string | null;
};

/**
 * The steps of a transaction, its events, webhook deliveries and audit entries, oldest first; and what they say of its
 * final status.
 */
export const historyOf = async (context: ActionContext, transaction: Transaction, lookup: Lookup | null) => {
  const isOwners = isForOwner(context);
  const [listed, deliveries, audit, { refund, paidAgain }, names] = await Promise.all([
    // Hundreds of stored events may be read: too many for owners, whom they do not concern.
    isOwners ? [] : listEvents(context.ledger, transaction.created_at),
    deliveriesOf(context, transaction),
    readTransactionAudit(context.ledger, transaction),
    adjustmentsOf(context, transaction),
    namesOf(context, transaction.account_id),
  ]);
  const events = eventsAbout(listed, transaction);
  return {
    history: stepsOf({ transaction, lookup, events, deliveries, audit, paidAgain, names }, isOwners).map((step) => ({
      ...step,
      local_time: timeIn(Date.parse(step.at), context.timeZone),
    })),
    isRefunded: refund !== undefined,
    isPaidAgain: paidAgain !== undefined,
    isContradicted: events.some(({ state, reason }) => state === "open" && reason === "contradiction"),
  };
};

const namedSchema = z.pick(accountSchema, { pk: true, keys: true, endpoints: true });

/** What people call the keys and endpoints of an account, by their ids. */
const namesOf = async (context: ActionContext, accountId: string): Promise<ReadonlyMap<string, string>> => {
  const accounts = await readAccounts(context, [accountId], namedSchema);
  return new Map(
    accounts.flatMap(({ keys, endpoints }) => [
      ...keys.map(({ key_id, name }) => [key_id, name] as const),
      ...endpoints.map(({ id, name }) => [id, name] as const),
    ]),
  );
};

type Found = {
  readonly transaction: Transaction;
  readonly lookup: Lookup | null;
  readonly events: readonly StoredEvent[];
  readonly deliveries: readonly Delivery[];
  readonly audit: readonly AuditEntry[];
  readonly paidAgain?: LedgerEntry | undefined;
  /** What people call the keys and endpoints of the account, by their ids. */
  readonly names: ReadonlyMap<string, string>;
};

/** The steps in words, oldest first. */
export const stepsOf = (found: Found, isOwners: boolean): readonly Step[] => {
  const { transaction, lookup, events, deliveries, audit, paidAgain, names } = found;
  const steps = [
    debitStep(transaction, names),
    ...sentSteps(transaction),
    ...(isUpdated(transaction) ? [lastStep(transaction, isOwners)] : []),
    ...(lookup === null ? [] : [lookupStep(lookup)]),
    ...events.map(eventStep),
    ...deliveries.flatMap((delivery) => deliverySteps(delivery, names)),
    ...audit.map((entry) => auditStep(entry, transaction.account_id, isOwners)),
    ...(paidAgain === undefined ? [] : [adjustmentStep(paidAgain)]),
  ];
  return steps.toSorted((one, other) => (one.at < other.at ? -1 : 1));
};

/** What corrects a wrong final status. The audit log has a refund too, also one that a restored ledger lacks. */
const adjustmentsOf = async (
  { ledger }: ActionContext,
  transaction: Transaction,
): Promise<{ readonly refund?: LedgerEntry | undefined; readonly paidAgain?: LedgerEntry | undefined }> => {
  const { mode, status, account_id } = transaction;
  if (mode === "test" || !isFinalStatus(status)) return {};
  const [refund, paidAgain] = await Promise.all(
    [refundName, deliveredId].map((name) => readAdjustment(ledger, account_id, name(referenceOf(transaction)))),
  );
  return { refund, paidAgain };
};

const adjustmentStep = ({ created_at, entry_id, amount_kobo, why = "" }: LedgerEntry): Step => ({
  at: created_at,
  what: "Adjusted",
  details: `${entry_id}, ${koboMoneyText(amount_kobo)}, "${why}"`,
});

const debitStep = ({ created_at, amount_kobo, mode, key_id, debit }: Transaction, names: Found["names"]): Step => {
  const name = names.get(key_id);
  return {
    at: created_at,
    what: mode === "test" ? "Placed in the sandbox" : debit === undefined ? "Debited" : "Not debited",
    details: `${koboMoneyText(amount_kobo)}, key ${name === undefined ? key_id : `"${name}" (${key_id})`}`,
  };
};

const lookupStep = ({ asked_at, asked, finding, details }: Lookup): Step => ({
  at: asked_at,
  what: "Upstream asked",
  details: `attempt ${asked}: ${lookupFindingTexts[finding]}${details === null ? "" : ` (${details})`}`,
});

/** Whether the last change needs a step of its own: it is neither the creation nor the sending. */
const isUpdated = ({ updated_at, created_at, sent_at }: Transaction): boolean =>
  updated_at !== created_at && updated_at !== sent_at;

const sentSteps = (transaction: Transaction): readonly Step[] => {
  const { created_at, sent_at } = transaction;
  if (sent_at !== undefined) {
    const wait = duration(Date.parse(sent_at) - Date.parse(created_at));
    return [{ at: sent_at, what: "Sent", details: `after a wait of ${wait}` }];
  }
  const details = unknownOutcomeText(transaction);
  return details === undefined ? [] : [{ at: created_at, what: "Sent", details }];
};

/**
 * What an operator should know before an open purchase is resolved; undefined for other transactions. No write says that
 * a purchase was sent that did not wait.
 */
export const unknownOutcomeText = (transaction: Transaction): string | undefined => {
  const { mode, status, sent_at, upstream_reference } = transaction;
  if (mode === "test" || isFinalStatus(status) || isIdentityCheck(transaction) || isQueuedOrder(transaction)) {
    return undefined;
  }
  const unless = upstream_reference === undefined ? ", unless the service stopped before that" : "";
  return `${sent_at === undefined ? "sent at once" : `sent at ${sent_at}`}${unless}: it may have been delivered`;
};

const lastStep = (transaction: Transaction, isOwners: boolean): Step => ({
  at: transaction.updated_at,
  what: isQueuedOrder(transaction) ? "Waits since" : lastSteps[transaction.status],
  details: [
    ...(transaction.upstream_reference === undefined ? [] : [`upstream reference ${transaction.upstream_reference}`]),
    ...(transaction.upstream_amount_kobo === undefined || isOwners
      ? []
      : [`upstream amount ${koboMoneyText(transaction.upstream_amount_kobo)}`]),
    ...(transaction.failure === undefined ? [] : [`error code ${transaction.failure.code}`]),
    ...(transaction.failure?.cause === undefined ? [] : ["the service got another upstream while it waited"]),
  ].join(", "),
});

const lastSteps = {
  processing: "Answered without an outcome",
  success: "Succeeded",
  failed: "Failed",
} as const satisfies Record<TransactionStatus, string>;

const eventStep = (event: StoredEvent): Step => ({
  at: event.created_at,
  what: "Upstream event",
  details: `${storedEventId(event)}: ${eventSummary(event)}. ${eventReasonTexts[event.reason]}. ${eventStateTexts[event.state]}`,
});

const deliverySteps = (delivery: Delivery, names: Found["names"]): readonly Step[] => {
  const { attempts, state, endpoint, repeat, webhook_id, created_at } = delivery;
  const called = names.get(endpoint);
  const receiver = called === undefined ? `endpoint ${endpoint}` : `"${called}"`;
  const name = `${webhook_id}${repeat === undefined ? "" : ", sent again,"} to ${receiver}`;
  if (attempts.length === 0) {
    return [{ at: created_at, what: "Webhook", details: `${name}: ${deliveryStateTexts[state]}` }];
  }
  return attempts.map(({ at, number, outcome, http_status }) => ({
    at,
    what: "Webhook",
    details: `${name}, attempt ${number}: ${attemptText(outcome, http_status)}`,
  }));
};

/** What people did. */
const auditSteps: Readonly<Partial<Record<string, string>>> = {
  "deliveries replay": "Webhook replayed",
  "events discard": "Event discarded",
  "events match": "Event matched",
  "transactions ask": "Question requested",
  "transactions note": "Note",
  "transactions refund": "Refunded",
  "transactions resolve": "Resolved",
  "transactions take": "Taken",
};

const auditStep = (entry: AuditEntry, account: string, isOwners: boolean): Step => {
  const { created_at, action, caller_arn, why } = entry;
  const details = [
    auditSentence(entry, account),
    ...(caller_arn === undefined || isOwners ? [] : [caller_arn]),
    ...(why === undefined ? [] : [`"${why}"`]),
  ];
  return { at: created_at, what: auditSteps[action] ?? "Audit entry", details: details.join(", ") };
};
