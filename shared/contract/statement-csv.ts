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
/** Those of its CSV, with the account, and the time in UTC and in the time zone of the stage. */
export const statementCsvColumns = ["account_id", at, "local_time", ...others] as const;

/** Amounts have two decimals and no separators. */
export const statementCsvCells = (accountId: string, line: z.input<typeof statementLine>): readonly string[] => [
  ...[accountId, line.at, line.local_time, line.kind, line.id],
  ...[line.caller_reference ?? "", line.network ?? "", line.description],
  ...[nairaDecimals(line.effect), nairaDecimals(line.balance)],
];

/** The balance before or after all lines, as a line without an effect. `date`: the limit of the period, where it has one. */
export const balanceCsvCells = (
  accountId: string,
  kind: "opening_balance" | "closing_balance",
  balance: number,
  date = "",
): readonly string[] => [accountId, "", date, kind, "", "", "", "", "", nairaDecimals(balance)];

/** The columns of a closed month; docs/finance.md describes them. */
export const periodCsvColumns = [...statementCsvColumns, "cost"] as const;

export const periodCsvCells = (accountId: string, line: z.input<typeof periodLine>): readonly string[] => [
  ...statementCsvCells(accountId, line),
  line.cost === null ? "" : nairaDecimals(line.cost),
];
