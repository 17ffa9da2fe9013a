import * as z from "#zod";
import { type SubjectKind, subjectNumberOf, type subjectsActions } from "../contract/actions/subjects.ts";
import { nairaFromKobo } from "../contract/values/money.ts";
import { type Consent, consentSchema, consentView } from "../identity/consent.ts";
import type { HashSubject } from "../identity/subject-hash.ts";
import { SERVICE } from "../ledger/audit.ts";
import { readTransactions } from "../ledger/find-transactions.ts";
import { getItems } from "../ledger/get-item.ts";
import type { Table } from "../ledger/ledger.ts";
import { ALL_TIMES, INDEXED_AGE_MS, indexKeySchema, queryPhone, querySubject } from "../ledger/query-index.ts";
import { type Replacements, replaceFields } from "../ledger/replace-fields.ts";
import { consentPk, transactionPkOfConsent } from "../ledger/schema.ts";
import { ERASED_FINGERPRINT, isFinalStatus, referenceOf, type Transaction } from "../ledger/transaction.ts";
import { isoTime } from "../platform/time.ts";
import { maskableDelivery, maskableEvent, maskableTransaction } from "../reconciliation/phone-retention.ts";
import { eventsWithPhone, type ReadableEvent } from "../upstream-events/stored-event.ts";
import { accountNamesOf } from "./accounts.ts";
import { type ActionContext, recordAudited } from "./action-context.ts";
import { countSearch } from "./action-limits.ts";
import type { ActionRuns } from "./action-runs.ts";
import { openCursor, sealCursor } from "./cursor.ts";
import { deliveriesOf, eventsAbout } from "./transaction-history.ts";

export type SubjectsContext = Pick<ActionContext, "actor" | "ledger" | "request" | "keyedHashes"> & {
  /** Counts searches. */
  readonly cache: Table;
  readonly hashSubject: HashSubject;
};

/** Items of one page: an erasure of an order writes up to six times. */
const PAGE_ITEMS = 25;

export const subjectsRuns: ActionRuns<typeof subjectsActions, SubjectsContext> = {
  "subjects report": async (context, input) => {
    const { subject, position } = await begin(context, "subjects report", input);
    const { checks, orders, next } = await readPage(context, subject, position);
    return {
      checks: await checkViews(context, checks),
      orders: await orderViews(context, orders),
      until: position.until,
      next_cursor: await sealCursor(context, subject.names, next),
    };
  },

  "subjects erase": async (context, input) => {
    const { subject, position } = await begin(context, "subjects erase", input);
    const { checks, orders, next } = await readPage(context, subject, position);
    const counts = { checks: position.checks, orders: position.orders, open: position.open };
    const events = await eventsSinceFirst(context, [...checks.map(({ transaction }) => transaction), ...orders]);
    for (const check of checks) {
      const isErased = isErasable(check.transaction) && (await eraseCheck(context, check, events));
      counts[isErased ? "checks" : "open"] += 1;
    }
    for (const order of orders) {
      const isErased = isErasable(order) && (await eraseOrder(context, order, events));
      counts[isErased ? "orders" : "open"] += 1;
    }
    if (next === undefined) {
      const details = { kind: input.kind, ...counts, until: position.until };
      await recordAudited(context, SERVICE, { action: "subjects erase", why: input.why, details });
    }
    return {
      ...counts,
      until: position.until,
      next_cursor: await sealCursor(context, subject.names, next && { ...next, ...counts }),
    };
  },
};

/** A person by the hashes under which they are found. */
type Subject = {
  readonly hash: string;
  /** The key of a phone number; undefined for a NIN or BVN. */
  readonly phoneKey: string | undefined;
  /** What a cursor is about, and who asked: another person's does not fit, because only the first page is recorded. */
  readonly names: readonly string[];
};

const positionSchema = z.object({
  list: z.enum(["checks", "orders"]),
  key: z.optional(indexKeySchema),
  until: z.iso.datetime(),
  ...{ checks: z.int(), orders: z.int(), open: z.int() },
});
type Position = z.infer<typeof positionSchema>;

type SubjectInput = {
  readonly kind: SubjectKind;
  readonly number: string;
  readonly why: string;
  readonly cursor?: string | undefined;
};

/** The person, and where the page begins. The first page counts as a search, and is recorded before anything is read. */
const begin = async (
  context: SubjectsContext,
  action: keyof typeof subjectsActions,
  { kind, number: text, why, cursor }: SubjectInput,
): Promise<{ readonly subject: Subject; readonly position: Position }> => {
  const { request, cache, ledger } = context;
  const number = subjectNumberOf(kind, text);
  if (number === undefined || request === undefined) throw new Error("A request has a person and a number");
  if (cursor === undefined) await countSearch(cache, request.identity, ledger.clock());
  const { hash } = await context.hashSubject(kind, number);
  const phoneKey = kind === "phone_number" ? (await context.keyedHashes()).phoneKey(number) : undefined;
  const subject = { hash, phoneKey, names: [action, hash, request.identity] };
  const begun = await openCursor(context, subject.names, positionSchema, cursor, "request");
  if (begun !== undefined) return { subject, position: begun };
  await recordAudited(context, SERVICE, { action, why, details: { kind } });
  const until = isoTime(ledger.clock() - INDEXED_AGE_MS);
  return { subject, position: { list: "checks", until, checks: 0, orders: 0, open: 0 } };
};

type Check = { readonly consent: Consent; readonly transaction: Transaction };
type Page = {
  readonly checks: readonly Check[];
  readonly orders: readonly Transaction[];
  readonly next: Position | undefined;
};

/** Items are read strongly, because the indexes lag: what was erased is left out. */
const readPage = async ({ ledger }: SubjectsContext, subject: Subject, position: Position): Promise<Page> => {
  const range = { from: ALL_TIMES.from, to: position.until };
  const limits = { oldest: PAGE_ITEMS };
  if (position.list === "checks") {
    const { keys, next } = await querySubject(ledger, subject.hash, range, position.key, limits);
    const consents = (await getItems(ledger, keys, consentSchema)).filter(({ subject: own }) => own === subject.hash);
    const checks = await withTransactions(ledger, consents);
    if (next !== undefined) return { checks, orders: [], next: { ...position, key: next } };
    const { key: _key, ...rest } = position;
    return { checks, orders: [], next: subject.phoneKey === undefined ? undefined : { ...rest, list: "orders" } };
  }
  if (subject.phoneKey === undefined) throw new Error("Only a phone number has orders");
  const { keys, next } = await queryPhone(ledger, subject.phoneKey, range, position.key, limits);
  const orders = (await readTransactions(ledger, keys)).filter(({ phone_key }) => phone_key === subject.phoneKey);
  return { checks: [], orders, next: next && { ...position, key: next } };
};

const withTransactions = async (
  ledger: SubjectsContext["ledger"],
  consents: readonly Consent[],
): Promise<readonly Check[]> => {
  const found = await readTransactions(ledger, consents.map(transactionPkOfConsent));
  const transactions = new Map(found.map((each) => [consentPk(each), each]));
  return consents.flatMap((consent) => {
    const transaction = transactions.get(consent.pk);
    return transaction === undefined ? [] : [{ consent, transaction }];
  });
};

const namesOf = (context: SubjectsContext, items: readonly { readonly account_id: string }[]) =>
  accountNamesOf(context, [...new Set(items.map(({ account_id }) => account_id))]);

const checkViews = async (context: SubjectsContext, checks: readonly Check[]) => {
  const names = await namesOf(
    context,
    checks.map(({ consent }) => consent),
  );
  return checks.map(({ consent, transaction: { status } }) => ({
    ...consentView(consent),
    account_name: names.get(consent.account_id) ?? "",
    status,
  }));
};

const orderViews = async (context: SubjectsContext, orders: readonly Transaction[]) => {
  const names = await namesOf(context, orders);
  return orders.map((order) => {
    const { account_id, key_id, mode, type, network = null, amount_kobo, status, created_at } = order;
    return {
      ...{ reference: referenceOf(order), account_id, account_name: names.get(account_id) ?? "", key_id, mode },
      ...{ type, network, amount: nairaFromKobo(amount_kobo), status, created_at },
    };
  });
};

/** An event may still be matched to an open live order by its number. */
const isErasable = ({ mode, status }: Transaction): boolean => mode === "test" || isFinalStatus(status);

type Change = { readonly pk: string; readonly change: Replacements };

/** Read once for a page: of an order of many months there may be thousands. */
const eventsSinceFirst = async (
  { ledger }: SubjectsContext,
  transactions: readonly Transaction[],
): Promise<readonly ReadableEvent[]> => {
  const [first] = transactions.map(({ created_at }) => created_at).toSorted();
  return first === undefined ? [] : eventsWithPhone(ledger, first);
};

/** What apps and the upstream said of a transaction. */
const changesAround = async (
  context: SubjectsContext,
  transaction: Transaction,
  events: readonly ReadableEvent[],
): Promise<readonly Change[]> => [
  ...(await deliveriesOf(context, transaction)).map((each) => maskableDelivery.parse(each)),
  ...eventsAbout(events, transaction).map((each) => maskableEvent.parse(each)),
];

/**
 * What marks a transaction as erased goes first: an attempt of a webhook that ends after that stores no answer, and one that
 * ended before is found. What the transaction is found by goes last: a run that dies before finds it again.
 */
const eraseAround = async (
  context: SubjectsContext,
  transaction: Transaction,
  events: readonly ReadableEvent[],
  { mark, last }: { readonly mark: Replacements; readonly last: Change },
): Promise<boolean> =>
  (await replaceInOrder(context.ledger, [{ pk: transaction.pk, change: mark }])) &&
  replaceInOrder(context.ledger, [...(await changesAround(context, transaction, events)), last]);

const eraseCheck = (
  context: SubjectsContext,
  { consent: { pk, subject, subject_key }, transaction }: Check,
  events: readonly ReadableEvent[],
): Promise<boolean> =>
  eraseAround(context, transaction, events, {
    mark: { fingerprint: { from: transaction.fingerprint, to: ERASED_FINGERPRINT } },
    last: { pk, change: { subject: { from: subject }, subject_key: { from: subject_key } } },
  });

const eraseOrder = (
  context: SubjectsContext,
  order: Transaction,
  events: readonly ReadableEvent[],
): Promise<boolean> => {
  const { phone_key, ...mark } = maskableTransaction.parse(order).change;
  const change: Replacements = phone_key === undefined ? {} : { phone_key };
  return eraseAround(context, order, events, { mark, last: { pk: order.pk, change } });
};

/** Ends with false at an item that another write has changed since it was read: then the next erasure finds the rest. */
const replaceInOrder = async (ledger: SubjectsContext["ledger"], changes: readonly Change[]): Promise<boolean> => {
  for (const { pk, change } of changes) {
    if (Object.keys(change).length > 0 && !(await replaceFields(ledger, pk, change))) return false;
  }
  return true;
};
