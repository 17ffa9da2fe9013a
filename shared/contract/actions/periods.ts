import * as z from "#zod";
import {
  type ActionTable,
  accountField,
  bookChange,
  bookRead,
  changeInput,
  nairaAmount,
  nextCursor,
} from "./action.ts";
import { lineKind, statementLine } from "./wallet.ts";

/** The most lines of one page of a period. */
export const PERIOD_LINES_MAX = 500;

const month = z
  .string()
  .check(z.regex(/^\d{4}-(0[1-9]|1[0-2])$/, "Must be a month such as 2026-10"))
  .register(z.globalRegistry, { description: "the month, such as 2026-10" });

const cursor = z.optional(z.string().check(z.maxLength(20_000)));

const periodSums = z.object({
  month: z.string(),
  time_zone: z.string(),
  /** The first and the last millisecond. */
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  opening: nairaAmount,
  /** Number and signed sum of the lines of each kind. */
  kinds: z.array(z.object({ kind: lineKind, count: z.int(), amount: nairaAmount })),
  lines: z.int(),
  closing: nairaAmount,
  /** Orders of this period or an earlier one that were open when it was closed. */
  open_orders: z.int(),
  /** The hash of the period before; empty for the first one. */
  previous: z.string(),
  hash: z.string(),
  closed_at: z.iso.datetime(),
});

export const accountPeriod = z.extend(periodSums, { account_id: z.string() });
export const servicePeriod = z.extend(periodSums, { accounts: z.int() });

/** A line of a closed period, with what its order cost. */
export const periodLine = z.extend(statementLine, {
  /** What the order of a debit costs, negative for its refund; null if it is unknown, and for other lines. */
  cost: z.nullable(nairaAmount),
});

/**
 * An order that was open when an earlier month was closed, and has ended since: by how much its cost changed. Its
 * `effect` is 0, and it is no line.
 */
export const costChange = z.extend(z.omit(statementLine, { kind: true }), {
  kind: z.literal("cost_change"),
  cost: nairaAmount,
  /** The price of the order if its cost was unknown in the files of its month, or 0. */
  unknown_price: nairaAmount,
});

/** Months that are closed for good. Amounts of outputs are NGN. */
export const periodsActions = {
  "periods close": {
    ...bookChange,
    irreversible: true,
    input: z.extend(changeInput, { month, cursor }),
    output: z.object({
      month: z.string(),
      state: z.enum(["sealing", "closing", "closed"]),
      accounts: z.int(),
      accounts_done: z.int(),
      /** Call again after this time: the index lacks a line that its wallet counts, or may lack it. */
      wait_ms: z.int(),
      /** Null if the period is closed. */
      next_cursor: nextCursor,
      period: z.nullable(servicePeriod),
    }),
    summary: "Close a month for all accounts: what is booked later belongs to the next one. No balance changes",
    command: "by hand",
  },
  "periods list": {
    ...bookRead,
    input: z.object({}),
    output: z.object({
      time_zone: z.string(),
      /** The month that can be closed next, and from when on. */
      next: z.object({ month: z.string(), from: z.iso.datetime() }),
      /** The latest first. */
      periods: z.array(servicePeriod),
    }),
    summary: "List the closed periods of the service",
    command: {
      table: {
        rows: "periods",
        columns: ["month", "accounts", "lines", "opening", "closing", "open_orders", "closed_at"],
      },
    },
  },
  "periods show": {
    ...bookRead,
    input: z.object({ month }),
    output: servicePeriod,
    summary: "Show the sums and the hash of a closed period",
    command: { takes: { month: "<month>" }, example: "2026-10" },
  },
  "periods accounts": {
    ...bookRead,
    input: z.object({ month, cursor }),
    output: z.object({ accounts: z.array(accountPeriod), next_cursor: nextCursor }),
    summary: "List the sums of each account in a closed period",
    command: "by hand",
  },
  "periods lines": {
    ...bookRead,
    personal: true,
    input: z.object({ month, account: accountField, cursor }),
    output: z.object({
      lines: z.array(periodLine),
      /** Those of the whole month, with its last page. */
      cost_changes: z.array(costChange),
      next_cursor: nextCursor,
    }),
    summary: "List the lines of an account in a closed period, with what their orders cost",
    command: "none",
  },
  "periods verify": {
    ...bookRead,
    input: z.object({ month, cursor }),
    output: z.object({
      ok: z.boolean(),
      month: z.string(),
      accounts: z.int(),
      accounts_done: z.int(),
      differences: z.array(z.object({ account_id: z.nullable(z.string()), what: z.string() })),
      next_cursor: nextCursor,
    }),
    summary: "Recompute a closed period from its lines, and name the first line of each account that differs",
    command: "by hand",
  },
} as const satisfies ActionTable;
