import type { AuditRow } from "../../shared/wallet/audit.ts";
import { table } from "./print.ts";

export const actView = (row: AuditRow) => {
  const { created_at: at, by, action, details } = row;
  return { at, by, action, why: row.why ?? null, details };
};

/** `id=GTB-2291 amount=5000`. */
export const detailsText = (details: AuditRow["details"]): string =>
  Object.entries(details)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");

export const actsTable = (acts: readonly AuditRow[]): string =>
  table(
    ["at", "by", "what", "details", "why"],
    acts.map(({ created_at, by, action, details, why }) => [created_at, by, action, detailsText(details), why]),
  );
