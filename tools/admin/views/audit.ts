import type { AuditEntry } from "../../../shared/ledger/audit.ts";
import { table } from "./print.ts";

export const auditView = (entry: AuditEntry) => {
  const { created_at: at, by, action, details } = entry;
  return { at, by, caller_arn: entry.caller_arn ?? null, action, why: entry.why ?? null, details };
};

/** `amount=5000 id=GTB-2291`, sorted by name: DynamoDB maps have no order. */
export const detailsText = (details: AuditEntry["details"]): string =>
  Object.entries(details)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");

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
