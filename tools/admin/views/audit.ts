import { type AuditEntry, detailsText } from "../../../shared/ledger/audit.ts";
import { table } from "./print.ts";

export const auditView = (entry: AuditEntry) => {
  const { created_at: at, by, action, details } = entry;
  return { at, by, caller_arn: entry.caller_arn ?? null, action, why: entry.why ?? null, details };
};

/** With a column for the AWS identity if an entry has one. */
export const auditTable = (entries: readonly AuditEntry[]): string => {
  const hasIdentity = entries.some(({ caller_arn }) => caller_arn !== undefined);
  return table(
    ["at", "by", "action", "details", "why", ...(hasIdentity ? ["AWS identity"] : [])],
    entries.map(({ created_at, by, action, details, why, caller_arn }) => [
      ...[created_at, by, action, detailsText(details), why],
      ...(hasIdentity ? [caller_arn] : []),
    ]),
  );
};
