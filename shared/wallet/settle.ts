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
  | { readonly kind: "applied" }
  /** Nothing was written: this is how the transaction stands, by this verdict, which came before, or by another. */
  | { readonly kind: "stands"; readonly row: TransactionRow }
  /** The time was up before the write was known to have happened. */
  | { readonly kind: "not_known" };

/** What must be known of a transaction to settle it; the index by upstream reference has as much. */
export const settleTarget = transactionRow.pick({
  pk: true,
  mode: true,
  attempt: true,
  account_id: true,
  amount_kobo: true,
});
export type SettleTarget = z.infer<typeof settleTarget>;

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
  target: SettleTarget,
  verdict: Verdict,
  deadline: Deadline,
  /** A match by guess must not overrule knowledge. */
  only: Settleable = "any",
): Promise<Settlement> => {
  for (let round = 0; ; round += 1) {
    try {
      await write(ledger, target, verdict, only, deadline.remaining_ms() - RESERVE_MS);
      return { kind: "applied" };
    } catch (error) {
      const collision = collisionOf(error);
      if (collision.kind === "refused" && collision.row !== undefined) return { kind: "stands", row: collision.row };
      if (collision.kind !== "conflict") {
        log.warn("settle.attempt_failed", { attempt: target.attempt, ...errorFields(error) });
      }
    }
    if (deadline.remaining_ms() <= RESERVE_MS) return { kind: "not_known" };
    await waitForTurn(round);
  }
};

/** What an applied verdict made of a row. */
export const settledRow = ({ open: _open, ...row }: TransactionRow, verdict: Verdict): TransactionRow => ({
  ...row,
  ...verdict,
});

const write = async (
  ledger: Ledger,
  target: SettleTarget,
  verdict: Verdict,
  only: Settleable,
  patience_ms: number,
): Promise<void> => {
  const abort = { abortSignal: AbortSignal.timeout(Math.max(1, Math.floor(patience_ms))) };
  const [update, ...others] = settlingWrites(ledger, target, verdict, only);
  if (others.length > 0) await ledger.db.send(new TransactWriteCommand({ TransactItems: [update, ...others] }), abort);
  else await ledger.db.send(new UpdateCommand(update.Update), abort);
};

/** Which open transactions a verdict may settle: any; those without an upstream reference; or also those with this very one. */
export type Settleable = "any" | "unnamed" | { readonly unnamedOr: string };

/** The parts of the write that settles: the transaction's own, and with a live failure the refund. */
export const settlingWrites = (
  ledger: Ledger,
  target: SettleTarget,
  verdict: Verdict,
  only: Settleable,
): readonly [{ readonly Update: ReturnType<typeof transactionUpdate> }, ...ReturnType<typeof walletCredit>[]] => {
  const update = { Update: transactionUpdate(ledger, target, verdict, only) };
  if (verdict.status !== "failed" || target.mode !== "live") return [update];
  return [update, walletCredit(ledger, target.account_id, target.amount_kobo)];
};

const transactionUpdate = ({ table, clock }: Ledger, target: SettleTarget, verdict: Verdict, only: Settleable) => {
  const { status, ...facts } = verdict;
  const sets = Object.entries({ updated_at: isoTime(clock()), ...facts }).filter(([, value]) => value !== undefined);
  const isFinal = status !== "processing";
  return {
    TableName: table,
    Key: { pk: target.pk },
    UpdateExpression: `SET #status = :status, ${sets.map(([name]) => `${name} = :${name}`).join(", ")}${
      isFinal ? " REMOVE #open" : ""
    }`,
    // `attempt` and `mode` make sure that this is the very transaction that the verdict speaks of.
    ConditionExpression: `#status = :processing AND #mode = :mode AND attempt = :attempt${nameCondition(only)}`,
    ExpressionAttributeNames: { "#status": "status", "#mode": "mode", ...(isFinal && { "#open": "open" }) },
    ExpressionAttributeValues: {
      ":status": status,
      ":processing": "processing",
      ":mode": target.mode,
      ":attempt": target.attempt,
      ...(typeof only === "object" && { ":name": only.unnamedOr }),
      ...Object.fromEntries(sets.map(([name, value]) => [`:${name}`, value])),
    },
    ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
  };
};

const nameCondition = (only: Settleable): string => {
  if (only === "any") return "";
  const unnamed = "attribute_not_exists(upstream_reference)";
  return only === "unnamed" ? ` AND ${unnamed}` : ` AND (${unnamed} OR upstream_reference = :name)`;
};
