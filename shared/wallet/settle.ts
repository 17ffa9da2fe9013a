import { TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import type { Deadline } from "../platform/deadline.ts";
import { errorFields, log } from "../platform/log.ts";
import { koboSchema } from "../platform/money.ts";
import { isoTime } from "../platform/time.ts";
import { collisionOf, type Ledger, waitForTurn } from "./ledger.ts";
import { failureSchema, type TransactionRow, transactionRow } from "./transaction.ts";
import { walletCredit } from "./wallet.ts";

const upstreamFacts = {
  upstream_reference: z.string().min(1).max(100).optional(),
  upstream_amount_kobo: koboSchema.optional(),
};

/** What was learnt about an open transaction; `failed` gives the money back. */
export const verdictSchema = z.discriminatedUnion("status", [
  z.object({ status: z.literal("success"), ...upstreamFacts }),
  z.object({ status: z.literal("processing"), ...upstreamFacts }),
  z.object({ status: z.literal("failed"), failure: failureSchema, ...upstreamFacts }),
]);
export type Verdict = z.infer<typeof verdictSchema>;

export type Settlement =
  | { readonly kind: "applied"; readonly row: TransactionRow }
  /** It had ended before, by this verdict or by another; this is how it stands. */
  | { readonly kind: "already_final"; readonly row: TransactionRow }
  /** The time was up before the write was known to have happened. */
  | { readonly kind: "not_known" };

/** An attempt at the write is cut off so that this much is left for what follows it. */
const RESERVE_MS = 3_500;

/**
 * Ends an open transaction, or records what the upstream calls it, if it is still open. Every verdict may come twice and in any
 * order: the first that ends a transaction stands. The refund is in the write that marks it `failed`.
 *
 * Repeating is harmless, so that it goes on through conflicts and lost answers until the deadline.
 */
export const settleTransaction = async (
  ledger: Ledger,
  row: TransactionRow,
  verdict: Verdict,
  deadline: Deadline,
): Promise<Settlement> => {
  for (let round = 0; ; round += 1) {
    try {
      return { kind: "applied", row: await write(ledger, row, verdict, deadline.remaining_ms() - RESERVE_MS) };
    } catch (error) {
      const collision = collisionOf(error);
      if (collision.kind === "refused" && collision.row !== undefined) {
        return { kind: "already_final", row: collision.row };
      }
      if (collision.kind !== "conflict") {
        log.warn("settle.attempt_failed", { attempt: row.attempt, ...errorFields(error) });
      }
    }
    if (deadline.remaining_ms() <= RESERVE_MS) return { kind: "not_known" };
    await waitForTurn(round);
  }
};

/** One attempt; resolves with the row as it now stands. */
const write = async (
  ledger: Ledger,
  row: TransactionRow,
  verdict: Verdict,
  patience_ms: number,
): Promise<TransactionRow> => {
  const abort = { abortSignal: AbortSignal.timeout(Math.max(1, Math.floor(patience_ms))) };
  const now = isoTime(ledger.clock());
  const update = transactionUpdate(ledger, row, verdict, now);
  if (verdict.status === "failed" && row.mode === "live") {
    const refund = walletCredit(ledger, row.account_id, row.amount_kobo);
    await ledger.db.send(new TransactWriteCommand({ TransactItems: [{ Update: update }, refund] }), abort);
    return settledRow(row, verdict, now);
  }
  const { Attributes } = await ledger.db.send(new UpdateCommand({ ...update, ReturnValues: "ALL_NEW" }), abort);
  return transactionRow.parse(Attributes);
};

const transactionUpdate = ({ table }: Ledger, row: TransactionRow, verdict: Verdict, now: string) => {
  const { status, ...facts } = verdict;
  const sets = Object.entries({ updated_at: now, ...facts }).filter(([, value]) => value !== undefined);
  return {
    TableName: table,
    Key: { pk: row.pk },
    UpdateExpression: `SET #status = :status, ${sets.map(([name]) => `${name} = :${name}`).join(", ")}${
      status === "processing" ? "" : " REMOVE #open"
    }`,
    // `attempt` and `mode` make sure that this is the very transaction that the verdict speaks of.
    ConditionExpression: "#status = :processing AND #mode = :mode AND attempt = :attempt",
    ExpressionAttributeNames: {
      "#status": "status",
      "#mode": "mode",
      ...(status !== "processing" && { "#open": "open" }),
    },
    ExpressionAttributeValues: {
      ":status": status,
      ":processing": "processing",
      ":mode": row.mode,
      ":attempt": row.attempt,
      ...Object.fromEntries(sets.map(([name, value]) => [`:${name}`, value])),
    },
    ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
  };
};

/** A transaction's write returns no item; this is what it made of it. */
const settledRow = ({ open: _open, ...row }: TransactionRow, verdict: Verdict, now: string): TransactionRow => ({
  ...row,
  ...verdict,
  updated_at: now,
});
