import { findAccount } from "../access/account-store.ts";
import type { ActionInput } from "../contract/actions/actions.ts";
import type { auditActions } from "../contract/actions/audit.ts";
import {
  type AuditEntry,
  type AuditFilter,
  readAuditAbout,
  readAuditPage,
  readTransactionAudit,
  SERVICE,
} from "../ledger/audit.ts";
import { readTransaction } from "../ledger/find-transactions.ts";
import { auditLogOf } from "../ledger/schema.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { accountNamesOf } from "./accounts.ts";
import { type ActionContext, isForOwner } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";
import { auditKindOf, auditSentence } from "./audit-sentence.ts";
import { requireEvent, requireTransaction } from "./require-transaction.ts";
import { requireTimeRange } from "./time-range.ts";

/** `account`: what the account of the entry is called. */
export const auditView = (entry: AuditEntry, account: string) => {
  const { created_at: at, by, caller_arn = null, person, action, why = null, details } = entry;
  const { source_ip = null, user_agent = null } = entry;
  const sentence = auditSentence(entry, account);
  const kind = auditKindOf(action);
  return { at, by, caller_arn, ...(person && { person }), source_ip, user_agent, action, kind, sentence, why, details };
};

type Filters = Omit<ActionInput<"audit list">, "account" | "cursor">;

/** Owners do not see `consequence` of a proposal: it has what the upstream charges. */
const ownerView = ({ details: { consequence: _hidden, ...details }, ...entry }: AuditEntry, account: string) => ({
  ...auditView({ ...entry, details }, account),
  ...{ caller_arn: null, source_ip: null, user_agent: null },
});

/** As people type it: the whole name, what is after the last `/`, or of that what is before the `@` or ` (not verified)`. */
const spellingsOf = (name: string): readonly string[] => {
  const last = name.slice(name.lastIndexOf("/") + 1);
  return [name, last, last.replace(/(@| \().*$/, "")];
};

const filterOf = (context: ActionContext, { person, kind, from, to }: Filters): AuditFilter => {
  const wanted = person?.toLowerCase();
  const isBy = ({ by, caller_arn = "" }: AuditEntry): boolean =>
    [by, isForOwner(context) ? "" : caller_arn].flatMap(spellingsOf).some((name) => name.toLowerCase() === wanted);
  return {
    range: requireTimeRange(context, { from, to }),
    isWanted: (entry) =>
      (wanted === undefined || isBy(entry)) && (kind === undefined || auditKindOf(entry.action) === kind),
  };
};

const readPage = async (context: ActionContext, filter: AuditFilter, cursor: string | undefined) => {
  const found = await readAuditPage(context.ledger, filter, cursor);
  if (found === "no_cursor") throw new OperatorError("This is no cursor of this list");
  return found;
};

const entriesAbout = async (
  context: ActionContext,
  subject: string,
  account: string | undefined,
): Promise<readonly AuditEntry[]> => {
  const { ledger } = context;
  if (!subject.startsWith("event_")) {
    return readTransactionAudit(ledger, await requireTransaction(context, subject, account));
  }
  const { pk, transaction_pk: about } = await requireEvent(context, subject);
  const transaction = about === undefined ? undefined : await readTransaction(ledger, about);
  return transaction === undefined ? readAuditAbout(ledger, [SERVICE], pk) : readTransactionAudit(ledger, transaction);
};

/** What the accounts of these entries are called; one whose account is gone has its id. */
const accountNames = async (
  context: ActionContext,
  entries: readonly AuditEntry[],
): Promise<(entry: AuditEntry) => string> => {
  const ids = [...new Set(entries.map(({ pk }) => auditLogOf(pk)))].filter((id) => id !== SERVICE);
  const names = await accountNamesOf(context, ids);
  return ({ pk }) => names.get(auditLogOf(pk)) ?? auditLogOf(pk);
};

export const auditRuns: ActionRuns<typeof auditActions> = {
  "audit account": async (context, { account, cursor, ...filters }) => {
    const { entries, next } = await readPage(context, { ...filterOf(context, filters), auditLog: account }, cursor);
    const { name = account } = (await findAccount(context.accounts, account)) ?? {};
    return {
      entries: entries.map((entry) => (isForOwner(context) ? ownerView(entry, name) : auditView(entry, name))),
      next_cursor: next ?? null,
    };
  },
  "audit list": async (context, { account, cursor, ...filters }) => {
    const { entries, next } = await readPage(context, { ...filterOf(context, filters), auditLog: account }, cursor);
    const nameOf = await accountNames(context, entries);
    return {
      entries: entries.map((entry) => {
        const log = auditLogOf(entry.pk);
        return { ...auditView(entry, nameOf(entry)), account_id: log === SERVICE ? null : log };
      }),
      next_cursor: next ?? null,
    };
  },
  "audit about": async (context, { subject, account }) => {
    const entries = await entriesAbout(context, subject, account);
    const nameOf = await accountNames(context, entries);
    return { entries: entries.map((entry) => auditView(entry, nameOf(entry))) };
  },
};
