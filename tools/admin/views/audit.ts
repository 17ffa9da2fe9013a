import type { AuditEntry } from "../../../shared/ledger/audit.ts";
import { table } from "./print.ts";

export const actView = (row: AuditEntry) => {
  const { created_at: at, by, action, details } = row;
  return { at, by, caller_arn: row.caller_arn ?? null, action, why: row.why ?? null, details };
};

/** `amount=5000 id=GTB-2291`: by name, because a table's maps have no order. */
export const detailsText = (details: AuditEntry["details"]): string =>
  Object.entries(details)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");

/** The AWS caller is a column where there is one. */
export const actsTable = (acts: readonly AuditEntry[]): string => {
  const hasCaller = acts.some(({ caller_arn }) => caller_arn !== undefined);
  return table(
    ["at", "by", "what", "details", "why", ...(hasCaller ? ["AWS caller"] : [])],
    acts.map(({ created_at, by, action, details, why, caller_arn }) => [
      ...[created_at, by, action, detailsText(details), why],
      ...(hasCaller ? [caller_arn] : []),
    ]),
  );
};
