import { type AuditEntry, detailsText } from "../../../shared/ledger/audit.ts";
import { table } from "./print.ts";

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
