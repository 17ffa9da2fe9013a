import type { UpdateCommandInput } from "@aws-sdk/lib-dynamodb";
import * as z from "#zod";
import type { FinalStatus } from "../contract/final-status.ts";
import { lazyObject } from "../contract/lazy-object.ts";
import { retryContention } from "../platform/backoff.ts";
import { getItem } from "./get-item.ts";
import type { Ledger } from "./ledger.ts";
import { upstreamReferencePk } from "./schema.ts";

/**
 * What is known of an upstream reference that no order's own request recorded: the transaction to which it was matched,
 * and the key of the first event with each status. A match and the note of an event change this item, so that of a
 * match and an event that contradicts it the second one finds the first.
 */
export const upstreamReferenceSchema = lazyObject(() => ({
  pk: z.string(),
  transaction_pk: z.optional(z.string()),
  success_event_pk: z.optional(z.string()),
  failed_event_pk: z.optional(z.string()),
}));
export type UpstreamReference = z.infer<typeof upstreamReferenceSchema>;

const contraryOf = { success: "failed_event_pk", failed: "success_event_pk" } as const;

/** The key of an event that reports the other status under this reference, if there is one. */
export const contraryEvent = (reference: UpstreamReference, status: FinalStatus): string | undefined =>
  reference[contraryOf[status]];

export const readUpstreamReference = (
  ledger: Ledger,
  upstreamReference: string,
): Promise<UpstreamReference | undefined> =>
  getItem(ledger, upstreamReferencePk(upstreamReference), upstreamReferenceSchema);

/** Notes that an event reported this status. Resolves with all that is known then. */
export const noteEvent = async (
  { db, table }: Ledger,
  upstreamReference: string,
  status: FinalStatus,
  eventPk: string,
): Promise<UpstreamReference> => {
  const update: UpdateCommandInput = {
    TableName: table,
    Key: { pk: upstreamReferencePk(upstreamReference) },
    UpdateExpression: `SET ${status}_event_pk = if_not_exists(${status}_event_pk, :event)`,
    ExpressionAttributeValues: { ":event": eventPk },
    ReturnValues: "ALL_NEW",
  };
  const { Attributes } = await retryContention(() => db.update(update));
  return upstreamReferenceSchema.parse(Attributes);
};

/**
 * Reserves an upstream reference for one transaction: one part of a transaction of writes. The index lags and is read
 * before the write, so two simultaneous events about the same order could otherwise be matched to two transactions. By
 * a heuristic match, which is always of a `success`, it fails too if an event under the reference reported `failed`. By a
 * decision, of an operator or in the upstream's answer about the order, it does not.
 */
export const upstreamReferenceReservation = (
  { table }: Ledger,
  { transactionPk, upstreamReference }: { readonly transactionPk: string; readonly upstreamReference: string },
  by: "heuristic_match" | "decision",
) => ({
  Update: {
    TableName: table,
    Key: { pk: upstreamReferencePk(upstreamReference) },
    UpdateExpression: "SET transaction_pk = :transaction",
    ConditionExpression: `(attribute_not_exists(transaction_pk) OR transaction_pk = :transaction)${
      by === "heuristic_match" ? " AND attribute_not_exists(failed_event_pk)" : ""
    }`,
    ExpressionAttributeValues: { ":transaction": transactionPk },
  },
});
