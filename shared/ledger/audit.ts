import { randomBytes } from "node:crypto";
import * as z from "zod";
import { isoTime, sleep } from "../platform/time.ts";
import { type AuditProblem, storedEntrySchema, storedHeadSchema, verifyChains } from "./audit-chain.ts";
import { getItems } from "./get-item.ts";
import type { Ledger } from "./ledger.ts";
import { ALL_TIMES, decodeIndexKey, type IndexKey, listKeys, queryList } from "./query-index.ts";
import { auditHeadsList, auditList, auditPk, isAuditAbout, itemKindOf } from "./schema.ts";
import { transactWithRetry } from "./transact.ts";
import type { Transaction } from "./transaction.ts";

/**
 * Who changed what, and why; or what personal data an operator or a reader saw. A change of the ledger includes it in its own transaction of writes; before any other
 * change it is written by itself. `list_key` lists the entries of a log by time.
 */
const auditEntrySchema = z.object({
  pk: z.string(),
  list_key: z.string(),
  /** The log that has the entry: an account's id, or `SERVICE`. */
  audit_log: z.string(),
  /** The key of the transaction or event, or the id of the webhook, that it is about; its own key ends with it. */
  about: z.string().optional(),
  /** The name that the operator gave, or the e-mail address or name of who signed in to the console. */
  by: z.string(),
  /** On AWS, the identity that AWS STS gave for the operator's credentials. */
  caller_arn: z.string().optional(),
  /** In the console, who signed in: the provider's issuer and the subject that it never gives to another person. */
  person: z.object({ issuer: z.string(), sub: z.string() }).optional(),
  /** The address that the request came from; absent if a command worked with the operator's own permissions. */
  source_ip: z.string().optional(),
  action: z.string(),
  why: z.string().optional(),
  details: z.record(z.string(), z.union([z.string(), z.number()])),
  created_at: z.iso.datetime(),
});
export type AuditEntry = z.infer<typeof auditEntrySchema>;

/** The log of actions that concern no account. */
export const SERVICE = "service";

export type Actor = Pick<AuditEntry, "by" | "caller_arn" | "person" | "source_ip">;

/** An operation, as the person who does it states it. */
export type AuditedAction = Actor &
  Pick<AuditEntry, "audit_log" | "about" | "action"> & {
    readonly why?: string;
    readonly details?: AuditEntry["details"];
  };

export const auditEntry = (
  { audit_log, about, by, caller_arn, person, source_ip, action, why, details = {} }: AuditedAction,
  nowMs: number,
): AuditEntry => ({
  pk: auditPk(isoTime(nowMs), randomBytes(9).toString("base64url"), about),
  list_key: auditList(audit_log),
  audit_log,
  ...(about !== undefined && { about }),
  by,
  ...(caller_arn !== undefined && { caller_arn }),
  ...(person !== undefined && { person }),
  ...(source_ip !== undefined && { source_ip }),
  action,
  ...(why !== undefined && { why }),
  details,
  created_at: isoTime(nowMs),
});

/** The entry as one part of a transaction of writes. */
export const auditPut = (table: string, Item: AuditEntry) => ({
  Put: { TableName: table, Item, ConditionExpression: "attribute_not_exists(pk)" },
});

/**
 * Records an action before it changes something outside the ledger: a recorded action that then failed is better than
 * an unrecorded one.
 */
export const recordAudit = ({ db, table, clock }: Ledger, action: AuditedAction): Promise<void> =>
  transactWithRetry({ db }, [auditPut(table, auditEntry(action, clock()))]);

/** The entries of one log, oldest first. */
export const readAudit = async (ledger: Ledger, auditLog: string): Promise<readonly AuditEntry[]> =>
  getItems(ledger, await listKeys(ledger, auditList(auditLog), ALL_TIMES), auditEntrySchema);

/** What the chains of one log do not explain, and how many entries they have. */
export const verifyAudit = async (
  ledger: Ledger,
  auditLog: string,
): Promise<{ readonly count: number; readonly problems: readonly AuditProblem[] }> => {
  for (let reading = 1; ; reading += 1) {
    const heads = await getItems(ledger, await listKeys(ledger, auditHeadsList(auditLog), ALL_TIMES), storedHeadSchema);
    const items = await getItems(ledger, await listKeys(ledger, auditList(auditLog), ALL_TIMES), storedEntrySchema);
    const problems = verifyChains(items, heads);
    // The index may lag behind an entry, and one may be written between the two readings.
    if (problems.length === 0 || reading === READINGS) {
      return { count: heads.reduce((sum, { count }) => sum + count, 0), problems };
    }
    await sleep(READING_GAP_MS);
  }
};
const READINGS = 3;
const READING_GAP_MS = 500;

/** Those of a log's entries since `from` that are about this item, oldest first. */
export const readAuditAbout = async (
  ledger: Ledger,
  auditLog: string,
  about: string,
  from = ALL_TIMES.from,
): Promise<readonly AuditEntry[]> => {
  const keys = await listKeys(ledger, auditList(auditLog), { from, to: ALL_TIMES.to });
  return getItems(
    ledger,
    keys.filter(({ pk }) => isAuditAbout(pk, about)),
    auditEntrySchema,
  );
};

/** The entries about a transaction, oldest first: of its account, and of the service, which has discarded events. */
export const readTransactionAudit = async (
  ledger: Ledger,
  { pk, account_id, created_at }: Pick<Transaction, "pk" | "account_id" | "created_at">,
): Promise<readonly AuditEntry[]> => {
  const entries = await Promise.all(
    [account_id, SERVICE].map((auditLog) => readAuditAbout(ledger, auditLog, pk, created_at)),
  );
  return entries.flat().sort((one, other) => (one.created_at < other.created_at ? -1 : 1));
};

const PAGE_ENTRIES_MAX = 50;

/** One page of the entries of one log, newest first. */
export const readAuditPage = async (
  ledger: Ledger,
  auditLog: string,
  start: IndexKey | undefined,
): Promise<{ readonly entries: readonly AuditEntry[]; readonly next: IndexKey | undefined }> => {
  const { keys, next } = await queryList(ledger, auditList(auditLog), ALL_TIMES, start, { newest: PAGE_ENTRIES_MAX });
  return { entries: await getItems(ledger, keys, auditEntrySchema), next };
};

/** Undefined if the text is not the `next` of a page, as `encodeIndexKey` writes it. */
export const decodeAuditCursor = (text: string): IndexKey | undefined =>
  decodeIndexKey(text, (pk) => itemKindOf(pk) === "audit");

/** `amount=5000 id=GTB-2291`, sorted by name: DynamoDB maps have no order. */
export const detailsText = (details: AuditEntry["details"]): string =>
  Object.entries(details)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
