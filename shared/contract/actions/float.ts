import * as z from "#zod";
import { transactionQuery } from "../transaction-query.ts";
import { TYPED_NAIRA_RULE } from "../values/money.ts";
import { type ActionTable, bookChange, bookRead, nairaAmount, nextCursor, whySchema } from "./action.ts";
import { entryIdSchema } from "./wallet.ts";

const AMOUNT_KOBO_MAX = 99_999_999_999_999;

/** What should be left of our payments at the upstream. */
export const floatActions = {
  "float show": {
    ...bookRead,
    input: z.object({}),
    output: z.object({
      /** Null until a payment is booked: then the balance is not known. */
      payments: z.nullable(nairaAmount),
      /** What delivered orders cost. */
      cost: nairaAmount,
      /** The price of delivered orders whose cost is unknown, which counts in its place. */
      unknown_cost_at_price: nairaAmount,
      /** What open orders cost. */
      open: nairaAmount,
      /** Payments less all of these. */
      expected_balance: z.nullable(nairaAmount),
      /** What the upstream said last, and when; null where it is not asked, or has not answered yet. */
      upstream_balance: z.nullable(nairaAmount),
      upstream_balance_at: z.nullable(z.iso.datetime()),
      /** The newest day of the upstream's statements that states a balance at its end; null without one. */
      statement_day: z.nullable(z.iso.date()),
      statement_balance: z.nullable(nairaAmount),
      /** What the books expect for the end of that day; null if it is more than a week ago, or no midnight of the stage's zone. */
      statement_expected: z.nullable(nairaAmount),
      /** The one less the other. */
      statement_difference: z.nullable(nairaAmount),
      /** What the orders of the last 24 hours took. */
      last_24_hours: nairaAmount,
      /** Until it is empty at the pace of the last 24 hours; null without payments or orders. */
      hours_left: z.nullable(z.number()),
      /** Those are fewer than the stage's `floatAlarmHours`. */
      is_low: z.boolean(),
      /** The same in a sentence. */
      pace: z.string(),
    }),
    summary: "Show the expected balance at the upstream, and how long it lasts at the pace of the last 24 hours",
    command: {},
  },
  "float payments": {
    ...bookRead,
    input: z.pick(transactionQuery, { from: true, to: true, cursor: true }),
    output: z.object({
      /** `amount` is negative of a correction; `at` is when it was booked. */
      payments: z.array(z.object({ id: z.string(), amount: nairaAmount, at: z.iso.datetime(), by: z.string() })),
      next_cursor: nextCursor,
    }),
    summary: "List the payments to the upstream that are booked, newest first",
    command: "none",
  },
  "float fund": {
    ...bookChange,
    fourEyes: true,
    irreversible: true,
    movesMoney: true,
    input: z.object({
      amount_kobo: z
        .int(TYPED_NAIRA_RULE)
        .check(
          z.minimum(-AMOUNT_KOBO_MAX, "Is too large"),
          z.maximum(AMOUNT_KOBO_MAX, "Is too large"),
          z.refine((kobo) => kobo !== 0, "Must not be 0"),
        )
        .register(z.globalRegistry, { description: "NGN; negative to correct a payment that was booked too high" }),
      id: entryIdSchema.check(
        z.meta({ description: "the bank's reference of the payment, or a unique name of the correction" }),
      ),
      why: whySchema,
    }),
    output: z.object({
      id: z.string(),
      amount: nairaAmount,
      /** A payment with this id was booked already: nothing was changed. */
      repeated: z.boolean(),
    }),
    summary: "Book a payment to the upstream; safe to retry with the same id",
    command: {
      takes: { amount_kobo: "--amount <naira>", id: "--id <reference>" },
      example: '--amount 2000000 --id GTB-20261121-0043 --why "weekly payment"',
    },
  },
} as const satisfies ActionTable;
