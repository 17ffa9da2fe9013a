import type * as z from "zod";
import type { statementLine } from "./actions/wallet.ts";
import { csvRow } from "./csv.ts";
import { nairaDecimals } from "./money.ts";

/** The columns of a statement, as table and as CSV. */
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

/** Amounts have two decimals and no separators. */
export const statementCsvRow = (line: z.input<typeof statementLine>): string =>
  csvRow([
    line.at,
    line.kind,
    line.id,
    line.caller_reference ?? "",
    line.network ?? "",
    line.description,
    nairaDecimals(line.effect),
    nairaDecimals(line.balance),
  ]);
