import type * as z from "zod";
import type { periodLine } from "./actions/periods.ts";
import type { statementLine } from "./actions/wallet.ts";
import { nairaDecimals } from "./money.ts";

/** The columns of a statement's table. */
export const statementColumns = [
  "at",
  "kind",
  "id",
  "caller_reference",
  "network",
  "description",
  "effect",
  "balance",
] as const;

const [at, ...others] = statementColumns;
/** Those of its CSV: the time in UTC, and in the time zone of the stage. */
export const statementCsvColumns = [at, "local_time", ...others] as const;

/** Amounts have two decimals and no separators. */
export const statementCsvCells = (line: z.input<typeof statementLine>): readonly string[] => [
  ...[line.at, line.local_time, line.kind, line.id],
  ...[line.caller_reference ?? "", line.network ?? "", line.description],
  ...[nairaDecimals(line.effect), nairaDecimals(line.balance)],
];

/** The columns of a closed month; docs/finance.md describes them. */
export const periodCsvColumns = ["account_id", ...statementCsvColumns, "cost"] as const;

export const periodCsvCells = (accountId: string, line: z.input<typeof periodLine>): readonly string[] => [
  accountId,
  ...statementCsvCells(line),
  line.cost === null ? "" : nairaDecimals(line.cost),
];
