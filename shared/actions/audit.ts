import type { auditActions } from "../contract/actions/audit.ts";
import { type AuditEntry, readAuditAbout, readAuditPage, readTransactionAudit, SERVICE } from "../ledger/audit.ts";
import { readTransaction } from "../ledger/find-transactions.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { type ActionContext, isForOwner } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";
import { requireEvent, requireTransaction } from "./lookup.ts";

export const auditView = (entry: AuditEntry) => {
  const { created_at: at, by, caller_arn = null, person, source_ip = null, action, why = null, details } = entry;
  return { at, by, caller_arn, ...(person && { person }), source_ip, action, why, details };
};

const page = async (context: ActionContext, auditLog: string, cursor: string | undefined) => {
  const found = await readAuditPage(context.ledger, auditLog, cursor);
  if (found === "no_cursor") throw new OperatorError("This is no cursor of this list");
  const { entries, next } = found;
  const views = entries.map(auditView);
  return {
    entries: isForOwner(context) ? views.map((view) => ({ ...view, caller_arn: null, source_ip: null })) : views,
    next_cursor: next ?? null,
  };
};

/** The entries about a transaction or an event. */
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
  return transaction === undefined ? readAuditAbout(ledger, SERVICE, pk) : readTransactionAudit(ledger, transaction);
};

export const auditRuns: ActionRuns<typeof auditActions> = {
  "audit account": (context, { account, cursor }) => page(context, account, cursor),
  "audit service": (context, { cursor }) => page(context, SERVICE, cursor),
  "audit about": async (context, { subject, account }) => ({
    entries: (await entriesAbout(context, subject, account)).map(auditView),
  }),
};
