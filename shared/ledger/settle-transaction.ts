import { TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { backoff } from "../platform/backoff.ts";
import { abortAfter, type Deadline, settleBudgetMs } from "../platform/deadline.ts";
import { keyedMutex } from "../platform/keyed-mutex.ts";
import { errorFields, log } from "../platform/log.ts";
import { koboSchema } from "../platform/money.ts";
import { isoTime } from "../platform/time.ts";
import { classifyWriteError, type Ledger, type Writes } from "./transact.ts";
import { failureSchema, type Transaction, transactionSchema } from "./transaction.ts";
import { walletCredit } from "./wallet.ts";

const upstreamFacts = {
  upstream_reference: z.string().min(1).max(100).optional(),
  upstream_amount_kobo: koboSchema.optional(),
};

/** What was learnt about an open transaction; `failed` gives the money back. */
export const settlementSchema = z.discriminatedUnion("status", [
  z.object({ status: z.literal("success"), ...upstreamFacts }),
  z.object({ status: z.literal("processing"), ...upstreamFacts }),
  z.object({ status: z.literal("failed"), failure: failureSchema, ...upstreamFacts }),
]);
export type Settlement = z.infer<typeof settlementSchema>;

export type SettlementResult =
  | { readonly kind: "applied" }
  /** Nothing was written: this is how the transaction stands, by this verdict, which came before, or by another. */
  | { readonly kind: "stands"; readonly transaction: Transaction }
  /** The time was up before the write was known to have happened, or there is no wallet to give the money back to. */
  | { readonly kind: "not_known" };

/** What must be known of a transaction to settle it; the index by upstream reference has as much. */
export const settleTarget = transactionSchema.pick({
  pk: true,
  mode: true,
  attempt: true,
  account_id: true,
  amount_kobo: true,
});
export type SettleTarget = z.infer<typeof settleTarget>;

/**
 * Ends an open transaction, or records what the upstream calls it, if it is still open. Every verdict may come twice and in any
 * order: the first that ends a transaction stands. The refund is in the write that marks it `failed`.
 */
export const settleTransaction = async (
  ledger: Ledger,
  target: SettleTarget,
  settlement: Settlement,
  deadline: Deadline,
): Promise<SettlementResult> => {
  const outcome = await write(ledger, target, settlementWrites(ledger, target, settlement, "any"), deadline);
  if (outcome.kind !== "refused") return outcome;
  return outcome.transaction === undefined
    ? { kind: "not_known" }
    : { kind: "stands", transaction: outcome.transaction };
};

/**
 * The same for many transactions at once: the refunds of one wallet are settled in sequence, because each holds the wallet and
 * the others would be cancelled, and charged for.
 */
export const createSequentialSettle = (): typeof settleTransaction => {
  const inSequence = keyedMutex();
  return (ledger, target, settlement, deadline) => {
    const settle = () => settleTransaction(ledger, target, settlement, deadline);
    return refunds(target, settlement) ? inSequence(target.account_id, settle) : settle();
  };
};

const refunds = ({ mode }: SettleTarget, { status }: Settlement): boolean => status === "failed" && mode === "live";

/**
 * Ends an open transaction by a report that was not known to be about it: the upstream's name for an order is taken for its own. Only
 * where it has no name yet, and the name is nobody else's. True if this is now known to be done.
 */
export const settleByHeuristicMatch = async (
  ledger: Ledger,
  target: SettleTarget,
  settlement: Settlement,
  deadline: Deadline,
): Promise<boolean> => {
  const outcome = await write(ledger, target, settlementWrites(ledger, target, settlement, "unnamed"), deadline);
  return outcome.kind === "applied";
};

/** What an applied verdict made of a row. */
export const settledTransaction = (
  { open: _open, ...transaction }: Transaction,
  settlement: Settlement,
): Transaction => ({
  ...transaction,
  ...settlement,
});

type SettlingWrites = readonly [{ readonly Update: ReturnType<typeof transactionUpdate> }, ...Writes];

/**
 * Goes on through conflicts and lost answers until the deadline. Each attempt has a token of its own: the condition on the
 * transaction, and not the token, makes a repeat harmless, and what the condition finds is the outcome.
 */
const write = async (
  ledger: Ledger,
  { attempt }: SettleTarget,
  writes: SettlingWrites,
  deadline: Deadline,
): Promise<
  | { readonly kind: "applied" | "not_known" }
  | { readonly kind: "refused"; readonly transaction: Transaction | undefined }
> => {
  const nextAttempt = backoff(() => settleBudgetMs(deadline));
  for (;;) {
    try {
      await writeOnce(ledger, writes, settleBudgetMs(deadline));
      return { kind: "applied" };
    } catch (error) {
      const collision = classifyWriteError(error);
      const isMissing = collision.kind === "refused" && collision.transaction === undefined;
      if (collision.kind === "lost" || isMissing)
        log.warn("settlement.attempt_failed", { attempt, ...errorFields(error) });
      if (collision.kind === "refused") return collision;
    }
    if (!(await nextAttempt())) return { kind: "not_known" };
  }
};

const writeOnce = async ({ db }: Ledger, [update, ...others]: SettlingWrites, limitMs: number): Promise<void> => {
  const abort = { abortSignal: abortAfter(limitMs) };
  if (others.length > 0) await db.send(new TransactWriteCommand({ TransactItems: [update, ...others] }), abort);
  else await db.send(new UpdateCommand(update.Update), abort);
};

/** Which open transactions a verdict may settle: any; those without an upstream reference; or also those with this very one. */
export type NameCondition = "any" | "unnamed" | { readonly unnamedOr: string };

/** The parts of the write that settles: the transaction's own; with a live failure the refund; with a match the claim to its name. */
export const settlementWrites = (
  ledger: Ledger,
  target: SettleTarget,
  settlement: Settlement,
  only: NameCondition,
): SettlingWrites => {
  const { upstream_reference: name } = settlement;
  return [
    { Update: transactionUpdate(ledger, target, settlement, only) },
    ...(refunds(target, settlement) ? [walletCredit(ledger, target.account_id, target.amount_kobo)] : []),
    ...(only === "any" || name === undefined ? [] : [upstreamReferenceClaim(ledger, target, name)]),
  ];
};

/**
 * One order of the upstream's is one transaction's. Indexes lag and are read before the write: two reports of the same order, at
 * the same time, could be taken for two transactions'.
 */
const upstreamReferenceClaim = ({ table }: Ledger, { pk: transaction }: SettleTarget, name: string) => ({
  Put: {
    TableName: table,
    Item: { pk: `name#${name}`, transaction },
    ConditionExpression: "attribute_not_exists(pk) OR #transaction = :transaction",
    ExpressionAttributeNames: { "#transaction": "transaction" },
    ExpressionAttributeValues: { ":transaction": transaction },
  },
});

const transactionUpdate = (
  { table, clock }: Ledger,
  target: SettleTarget,
  settlement: Settlement,
  only: NameCondition,
) => {
  const { status, ...facts } = settlement;
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

const nameCondition = (only: NameCondition): string => {
  if (only === "any") return "";
  const unnamed = "attribute_not_exists(upstream_reference)";
  return only === "unnamed" ? ` AND ${unnamed}` : ` AND (${unnamed} OR upstream_reference = :name)`;
};
