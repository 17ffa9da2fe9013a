import * as z from "#zod";
import type { MessageNames } from "../call/message-result.ts";
import { finalStatus } from "../contract/final-status.ts";
import { modeSchema } from "../contract/transaction.ts";
import { loggableReference } from "../contract/values/mask-phones.ts";
import { koboSchema } from "../contract/values/money.ts";
import { transactionIdOf } from "../ledger/schema.ts";
import { settlementSchema } from "../ledger/settle-transaction.ts";
import { orderToSendSchema, transactionSchema } from "../ledger/transaction.ts";

/**
 * A settlement for one transaction, sent by the service itself. `mode` and `write_token` make sure that it
 * is applied to that transaction only. The token is random and leaves the ledger only in these messages and in logs, so who can
 * only write to the queue cannot forge one. Who can read orders besides can: no policy of people has both but the direct one.
 */
const settlementMessage = z.object({
  kind: z.literal("settlement"),
  mode: modeSchema,
  transaction_pk: z.string(),
  write_token: z.string(),
  settlement: settlementSchema,
});

/**
 * An order whose debit got no response, and which was not sent: it is refunded if the debit was made, and otherwise
 * recorded as it is here, so that the debit can no longer be made. Its phone number is masked. The message alone moves
 * no money: only a debit with its write token is refunded.
 */
const voidMessage = z.object({ kind: z.literal("void"), item: transactionSchema });
export type VoidMessage = z.infer<typeof voidMessage>;

/**
 * An order that must wait, and whose write got no response. `claim` is the claim under which it was not carried out; a
 * message that comes late has no effect after another claim. `table` is the ledger in which it was not carried out: a
 * copy that was restored from a backup may lack that other claim.
 */
const enqueueMessage = z.object({
  kind: z.literal("wait"),
  mode: modeSchema,
  transaction_pk: z.string(),
  write_token: z.string(),
  account_id: z.string(),
  claim: z.optional(z.string()),
  table: z.string(),
  refusals: z.optional(z.int().check(z.minimum(1))),
  claimed: z.optional(
    z.object({
      number: z.optional(z.int().check(z.minimum(1))),
      turnUntil: z.optional(z.iso.datetime()),
      isIndeterminate: z.optional(z.boolean()),
    }),
  ),
  order: orderToSendSchema,
});
export type EnqueueMessage = z.infer<typeof enqueueMessage>;

/** An upstream event. Its phone number is the key by which orders for it are found, and a masked number for operators. */
const eventMessage = z.object({
  kind: z.literal("event"),
  /** Set by the receiver, not read from the event. */
  mode: z.literal("live"),
  received_at: z.iso.datetime(),
  /**
   * Set only if an address list or a signature authenticates the event in addition to the path token; see event-mac.ts.
   */
  mac: z.optional(z.string().check(z.maxLength(100))),
  reference: z.string(),
  status: finalStatus,
  /** Absent if none was sent, or if it is not a whole number of kobo. */
  amount_kobo: z.optional(koboSchema),
  type: z.optional(z.string()),
  phone: z.optional(z.object({ key: z.string(), masked: z.string() })),
});
export type EventMessage = z.infer<typeof eventMessage>;

/** An upstream event that cannot be read. It is stored for an operator and moves no money, so it has no MAC. */
const unreadableMessage = z.object({
  kind: z.literal("unreadable_event"),
  mode: z.literal("live"),
  /** A keyed hash of the event: a duplicate is stored once. */
  digest: z.string().check(z.regex(/^[\w-]{43}$/)),
  reference: z.optional(z.string().check(z.maxLength(100))),
  /** What could not be read, and the status: `reference absent, status reversed`. */
  problem: z.string().check(z.regex(/^[\x20-\x7e]{1,200}$/)),
});
export type UnreadableMessage = z.infer<typeof unreadableMessage>;

const answerTarget = {
  kind: z.literal("answer"),
  mode: z.literal("live"),
  transaction_pk: z.string(),
  write_token: z.string(),
  /** The claim under which the order was sent when the upstream was asked. */
  claim: z.optional(z.string()),
};

/** What the upstream reports about one of its orders. */
const reportedOrder = z.extend(z.pick(eventMessage, { reference: true, status: true, amount_kobo: true, type: true }), {
  phone: z.optional(z.object({ masked: z.string() })),
});

/**
 * What the upstream answered when it was asked for an open order: an outcome, or something that a person must see. As
 * in a settlement, the token makes sure that it is applied to that transaction only.
 */
const answerMessage = z.discriminatedUnion("finding", [
  z.object({ ...answerTarget, finding: z.enum(["outcome", "another_order"]), event: reportedOrder }),
  /** The upstream does not know the order, by the reference that it was asked for. */
  z.object({ ...answerTarget, finding: z.literal("not_found"), reference: z.string() }),
]);
export type AnswerMessage = z.infer<typeof answerMessage>;

/** A message of the outcomes queue. It holds no personal data. */
export const outcomeMessage = z.discriminatedUnion("kind", [
  settlementMessage,
  voidMessage,
  enqueueMessage,
  eventMessage,
  unreadableMessage,
  answerMessage,
]);
export type OutcomeMessage = z.infer<typeof outcomeMessage>;
export type SettlementMessage = z.infer<typeof settlementMessage>;

export const namesInOutcome = (message: OutcomeMessage): MessageNames => {
  switch (message.kind) {
    case "event":
    case "unreadable_event":
      return { upstream_reference: loggableReference(message.reference) };
    case "void":
      return { transaction: transactionIdOf(message.item) };
    default:
      return { transaction: transactionIdOf({ pk: message.transaction_pk }) };
  }
};
