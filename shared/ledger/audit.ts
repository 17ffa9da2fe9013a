import * as z from "#zod";
import { MINUTE_MS } from "../contract/values/durations.ts";
import { EPOCH, isoTime } from "../platform/time.ts";
import {
  type AuditItem,
  type AuditProblem,
  chainVerifier,
  listedPlaceSchema,
  readAbout,
  readAllAttested,
  readAllEntries,
  readFirstFrom,
  readListed,
  readNewestFirst,
} from "./audit-chain.ts";
import { type CopyProblem, copyVerifier } from "./compare-copy.ts";
import type { CopiedEntry } from "./copied-entry.ts";
import type { AuditedLedger, Table } from "./ledger.ts";
import { decodePageCursor, encodePageCursor } from "./page-cursor.ts";
import { ALL_TIMES, INDEXED_AGE_MS, type TimeRange } from "./query-index.ts";
import { ENTRIES_LIST, entriesPk, isEntryPk, placeOf, sequenceKey } from "./schema.ts";
import { lowestOf, sortedReader } from "./sorted-reader.ts";
import { transactWithRetry } from "./transact.ts";
import type { Transaction } from "./transaction.ts";

/**
 * Who changed what, and why; or what personal data an operator or a reader saw. A change of the ledger includes it in its
 * own transaction of writes, although it is in another table; before any other change it is written by itself.
 */
const auditEntrySchema = z.object({
  /** Names the log that has the entry: an account's id, or `SERVICE`. */
  pk: z.string(),
  /** The key of the transaction or event, or the id of the webhook, that it is about. */
  about: z.optional(z.string()),
  /** The name that the operator gave, or the e-mail address or name of who signed in to the console. */
  by: z.string(),
  /** On AWS, the identity that AWS STS gave for the operator's credentials. */
  caller_arn: z.optional(z.string()),
  /** In the console, who signed in: the provider's issuer and the subject that it never gives to another person. */
  person: z.optional(z.object({ issuer: z.string(), sub: z.string() })),
  /** The address that the request came from; absent if a command worked with the operator's own permissions. */
  source_ip: z.optional(z.string()),
  /** What the browser or command called itself, cut and with masked digits; absent as `source_ip` is. */
  user_agent: z.optional(z.string()),
  action: z.string(),
  why: z.optional(z.string()),
  details: z.record(z.string(), z.union([z.string(), z.number()])),
  list_key: z.literal(ENTRIES_LIST),
  created_at: z.iso.datetime(),
});
export type AuditEntry = z.infer<typeof auditEntrySchema>;
/** An entry in its place. */
export const placedEntrySchema = z.extend(auditEntrySchema, {
  sequence: z.string().check(z.refine((sequence) => placeOf(sequence) !== undefined)),
});
type PlacedEntry = z.infer<typeof placedEntrySchema>;

/** The log of actions that concern no account. */
export const SERVICE = "service";

export type Actor = Pick<AuditEntry, "by" | "caller_arn" | "person" | "source_ip" | "user_agent"> & {
  /** The id of the proposal that the person approves: it is among the details. */
  readonly proposal?: string;
};

/** What the person is called where others read it: `--by` is free text, and could be the address of another person. */
export const actorName = ({ by, person }: Pick<Actor, "by" | "person">): string =>
  person === undefined ? `Command line (says: ${by})` : by;

/** An operation, as the person who does it states it. */
export type AuditedAction = Actor &
  Pick<AuditEntry, "about" | "action"> & {
    /** The log that gets the entry: an account's id, or `SERVICE`. */
    readonly audit_log: string;
    readonly why?: string;
    readonly details?: AuditEntry["details"];
  };

export const auditEntry = (
  {
    audit_log,
    about,
    by,
    caller_arn,
    person,
    source_ip,
    user_agent,
    proposal,
    action,
    why,
    details = {},
  }: AuditedAction,
  nowMs: number,
): AuditEntry => ({
  pk: entriesPk(audit_log),
  about,
  by,
  caller_arn,
  person,
  source_ip,
  user_agent,
  action,
  why,
  details: { ...details, ...(proposal !== undefined && { proposal }) },
  list_key: ENTRIES_LIST,
  created_at: isoTime(nowMs),
});

/** The entry as one part of a transaction of writes, which gives it its place in the log when it is sent. */
export const auditPut = ({ auditTable }: Pick<AuditedLedger, "auditTable">, entry: AuditEntry) => ({
  Put: {
    TableName: auditTable,
    Item: entry,
    ConditionExpression: "attribute_not_exists(pk)",
    // It shows which condition failed: `classifyWriteError` takes this one for a conflict.
    ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
  },
});
export type AuditPut = ReturnType<typeof auditPut>;

/**
 * Records an action before it changes something outside the ledger: a recorded action that then failed is better than
 * an unrecorded one.
 */
export const recordAudit = (ledger: AuditedLedger, action: AuditedAction): Promise<void> =>
  transactWithRetry(ledger, [auditPut(ledger, auditEntry(action, ledger.clock()))]);

const auditTableOf = ({ db, auditTable }: AuditedLedger): Table => ({ db, table: auditTable });

const readEntries = (
  ledger: AuditedLedger,
  auditLog: string,
  page: Parameters<typeof readNewestFirst>[2] = {},
): AsyncGenerator<AuditItem, void, void> => readNewestFirst(auditTableOf(ledger), entriesPk(auditLog), page);

/** The readable ones among them. What the service did not write must not hide the rest; `audit verify` names it. */
async function* placedIn(items: AsyncIterable<AuditItem>): AsyncGenerator<PlacedEntry, void, void> {
  for await (const item of items) {
    const { data } = placedEntrySchema.safeParse(item);
    if (data !== undefined) yield data;
  }
}

const readPlacedEntries = (...read: Parameters<typeof readEntries>): AsyncGenerator<PlacedEntry, void, void> =>
  placedIn(readEntries(...read));

/** The entries of one log, oldest first. */
export const readAudit = async (ledger: AuditedLedger, auditLog: string): Promise<readonly PlacedEntry[]> =>
  (await Array.fromAsync(readPlacedEntries(ledger, auditLog))).toReversed();

/** What `verifyAudit` finds: `before` entries are older than the copy of the audit log. */
export type VerifiedAudit = {
  readonly count: number;
  readonly before: number;
  readonly problems: readonly (AuditProblem | CopyProblem)[];
};

/** The copies of one log by their keys, when the first copy of any log was made, and when they were read. */
export type LogCopies = {
  readonly entries: AsyncIterable<CopiedEntry> | Iterable<CopiedEntry>;
  readonly beganAt: string;
  readonly readAtMs: number;
};

/**
 * What chain and attestations of one log do not explain, and what differs from its copies, if there are any. All are read
 * at once, place by place: in years a log has more entries than a process can hold.
 */
export const verifyAudit = async (
  ledger: AuditedLedger,
  auditLog: string,
  copy?: LogCopies,
): Promise<VerifiedAudit> => {
  const verifyPlace = chainVerifier(ledger.clock());
  const table = auditTableOf(ledger);
  // First of all, so that what is attested is of entries that the other reading finds.
  const attestations = await sortedReader(readAllAttested(table, auditLog));
  const items = await sortedReader(readAllEntries(table, auditLog));
  const copies = await sortedReader(copy?.entries ?? []);
  const compareCopies = copy && copyVerifier({ ...copy, first: copies.key() });
  const inChain: AuditProblem[] = [];
  const inCopy: CopyProblem[] = [];
  let [count, before] = [0, 0];
  for (;;) {
    const sequence = lowestOf([items.key(), attestations.key(), copies.key()]);
    if (sequence === undefined) return { count, before, problems: [...inChain, ...inCopy] };
    const [item] = await items.take(sequence);
    const [attested] = await attestations.take(sequence);
    if (item !== undefined) count += 1;
    if ((item ?? attested) !== undefined) inChain.push(...verifyPlace({ sequence, item, attested }));
    const finding = compareCopies?.(item, await copies.take(sequence));
    if (finding === "before") before += 1;
    else if (finding !== undefined) inCopy.push({ kind: finding, sequence });
  }
};

/** How much earlier the time of a later entry may be: the clocks of two writers differ. */
const CLOCK_DIFFERENCE_MS = 5 * MINUTE_MS;

/** The entries of these logs since `from` about this item, oldest first. */
export const readAuditAbout = async (
  ledger: AuditedLedger,
  auditLogs: readonly string[],
  about: string,
  from = EPOCH,
): Promise<readonly PlacedEntry[]> => {
  const range = { from: isoTime(Date.parse(from) - CLOCK_DIFFERENCE_MS), to: ALL_TIMES.to };
  const read = await Promise.all([
    Array.fromAsync(placedIn(readAbout(auditTableOf(ledger), about, range))),
    ...auditLogs.map((auditLog) => readLatest(ledger, auditLog)),
  ]);
  const ofLogs = new Set(auditLogs.map(entriesPk));
  const entries = new Map<string, PlacedEntry>();
  for (const entry of read.flat()) {
    const { created_at, pk, sequence } = entry;
    if (ofLogs.has(pk) && entry.about === about && isWithin(entry, range)) {
      entries.set([created_at, pk, sequence].join(" "), entry);
    }
  }
  return [...entries].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, entry]) => entry);
};

/** The entries of a log that the index may lack: what was sent again a moment ago has to be found when a person is erased. */
const readLatest = async (ledger: AuditedLedger, auditLog: string): Promise<readonly PlacedEntry[]> => {
  const since = isoTime(ledger.clock() - INDEXED_AGE_MS);
  const latest: PlacedEntry[] = [];
  for await (const entry of readPlacedEntries(ledger, auditLog, { pageItems: LATEST_ENTRIES })) {
    if (entry.created_at < since) break;
    latest.push(entry);
  }
  return latest;
};
/** People write fewer in this time to most logs: one page has them. */
const LATEST_ENTRIES = 10;

/** The entries about a transaction, oldest first: of its account, and of the service, which has discarded events. */
export const readTransactionAudit = (
  ledger: AuditedLedger,
  { pk, account_id, created_at }: Pick<Transaction, "pk" | "account_id" | "created_at">,
): Promise<readonly AuditEntry[]> => readAuditAbout(ledger, [account_id, SERVICE], pk, created_at);

const PAGE_ENTRIES_MAX = 50;
/** Entries that one page looks through: a page of a rare kind may be empty, and the next one goes on. */
const LOOKED_THROUGH_MAX = 2_000;

/** In a shorter log the entries of a time are found page by page. */
const SEARCHED_FROM = 200;

/**
 * A place behind all entries of this time or an earlier one; undefined: the log's end is near enough. Places are bisected,
 * because times rise with them, but for clocks that differ: some twenty reads of one entry for a log of a million.
 */
const placeBehind = async (ledger: AuditedLedger, auditLog: string, at: string): Promise<string | undefined> => {
  if (at === ALL_TIMES.to) return undefined;
  const table = auditTableOf(ledger);
  const atMs = Date.parse(at) + CLOCK_DIFFERENCE_MS;
  const { value: newest } = await readPlacedEntries(ledger, auditLog, { pageItems: 1 }).next();
  let [first, last] = [1, placeOf(newest?.sequence ?? "") ?? 0];
  if (last < SEARCHED_FROM) return undefined;
  while (first < last) {
    const middle = Math.floor((first + last) / 2);
    const { data } = placedEntrySchema.safeParse(await readFirstFrom(table, auditLog, middle));
    // What cannot be read says nothing of its time: then the search begins behind it.
    if (data !== undefined && Date.parse(data.created_at) > atMs) last = middle;
    else first = middle + 1;
  }
  return sequenceKey(last + 1);
};

/** Which entries are wanted. */
export type AuditFilter = {
  /** Of one log; absent: of all. */
  readonly auditLog?: string | undefined;
  readonly range?: TimeRange;
  readonly isWanted?: (entry: AuditEntry) => boolean;
};

/**
 * One page of entries, newest first; `cursor` is the `next` of the page before. Those of one log are read strongly; those
 * of all logs are in the index some moments after they were written.
 */
export const readAuditPage = async (
  ledger: AuditedLedger,
  { auditLog, range = ALL_TIMES, isWanted = () => true }: AuditFilter,
  cursor: string | undefined,
): Promise<{ readonly entries: readonly PlacedEntry[]; readonly next: string | undefined } | "no_cursor"> => {
  const start = cursor === undefined ? undefined : decodePageCursor(cursorSchema, cursor);
  // DynamoDB refuses a place beyond the range that it reads.
  const isBeyond = start !== undefined && auditLog === undefined && !isWithin(start, range);
  if (cursor !== undefined && (start === undefined || isBeyond)) return "no_cursor";
  const read =
    auditLog === undefined
      ? placedIn(readListed(auditTableOf(ledger), range, start))
      : readPlacedEntries(ledger, auditLog, {
          before: start === undefined ? await placeBehind(ledger, auditLog, range.to) : start.sequence,
          // One more shows whether there is another page.
          pageItems: PAGE_ENTRIES_MAX + 1,
        });
  const entries: PlacedEntry[] = [];
  let last: PlacedEntry | undefined;
  let lookedThrough = 0;
  for await (const entry of read) {
    if (Date.parse(entry.created_at) < Date.parse(range.from) - CLOCK_DIFFERENCE_MS) break;
    if (entries.length === PAGE_ENTRIES_MAX || lookedThrough === LOOKED_THROUGH_MAX) {
      return { entries, next: last && encodePageCursor(cursorSchema.parse(last)) };
    }
    if (isWithin(entry, range) && isWanted(entry)) entries.push(entry);
    lookedThrough += 1;
    last = entry;
  }
  return { entries, next: undefined };
};

const cursorSchema = z.extend(listedPlaceSchema, {
  pk: z.string().check(z.refine(isEntryPk)),
  sequence: z.string().check(z.refine((sequence) => placeOf(sequence) !== undefined)),
});

const isWithin = ({ created_at }: { readonly created_at: string }, { from, to }: TimeRange): boolean =>
  created_at >= from && created_at <= to;

/** `amount=5000 id=GTB-2291`, sorted by name: DynamoDB maps have no order. */
export const detailsText = (details: AuditEntry["details"]): string =>
  Object.entries(details)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
