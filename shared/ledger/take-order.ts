import { MINUTE_MS } from "../contract/values/durations.ts";
import { EPOCH, isoTime } from "../platform/time.ts";
import type { Ledger } from "./ledger.ts";
import { isFinalStatus, type Transaction } from "./transaction.ts";
import { returned, setParts, updateOf } from "./update-parts.ts";

/** How long an order stays with the operator who took it. */
const TAKEN_MS = 30 * MINUTE_MS;

/** Who is on an open order, and since when. */
export const takerOf = (
  { taken_by: by, taken_at: at = EPOCH, status }: Pick<Transaction, "taken_by" | "taken_at" | "status">,
  nowMs: number,
): { readonly by: string; readonly at: string } | undefined =>
  by === undefined || isFinalStatus(status) || Date.parse(at) <= nowMs - TAKEN_MS ? undefined : { by, at };

/**
 * Makes an open order this person's, unless another one took it less than 30 minutes ago: one part of a transaction of
 * writes. `updated_at` stays: it says whether the order's own request has recorded anything.
 */
export const takeUpdate = ({ table, clock }: Ledger, { pk }: Pick<Transaction, "pk">, by: string) => ({
  Update: {
    TableName: table,
    Key: { pk },
    ...updateOf(setParts({ taken_by: by, taken_at: isoTime(clock()) }), {
      conditions: [
        "#status = :processing AND (attribute_not_exists(taken_by) OR taken_by = :taken_by OR taken_at <= :expired)",
      ],
      names: { "#status": "status" },
      values: { ":processing": "processing", ":expired": isoTime(clock() - TAKEN_MS) },
    }),
    ...returned,
  },
});
