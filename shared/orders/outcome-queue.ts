import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import * as z from "zod";
import { modeSchema } from "../contract/transaction.ts";
import { settlementSchema } from "../ledger/settle-transaction.ts";
import { abortAfter, type Deadline } from "../platform/deadline.ts";
import { koboSchema } from "../platform/money.ts";
import { ANSWER_RESERVE_MS } from "../platform/time-budgets.ts";

/**
 * What was learnt about one transaction of ours, by ourselves. `mode` and `attempt` make sure that the verdict meets the very
 * transaction that it speaks of. The attempt is random and leaves the ledger only in such messages, so that whoever can write to the
 * queue, and no more, cannot make a verdict that is applied.
 */
const verdictMessage = z.object({
  kind: z.literal("settlement"),
  mode: modeSchema,
  transaction: z.string(),
  attempt: z.string(),
  settlement: settlementSchema,
});

/** What the upstream reported. The phone number travels as an HMAC, and masked for the operator's eye. */
const eventMessage = z.object({
  kind: z.literal("event"),
  /** Set by the receiver, never read from the event. */
  mode: z.literal("live"),
  received_at: z.iso.datetime(),
  /** Only where an address list or a signature vouches for it, beside the secret path; see event-mac.ts. */
  mac: z.string().max(100).optional(),
  reference: z.string(),
  status: z.enum(["success", "failed"]),
  /** Absent where none was sent, or one that is no whole number of kobo. */
  amount_kobo: koboSchema.optional(),
  type: z.string().optional(),
  phone: z.object({ hmac: z.string(), masked: z.string() }).optional(),
});
export type EventMessage = z.infer<typeof eventMessage>;

/** What the upstream reported in words that we do not know. It changes no money, and so carries no MAC: it is kept for the operator. */
const unreadableMessage = z.object({
  kind: z.literal("unreadable_event"),
  mode: z.literal("live"),
  /** A keyed hash of what was sent: the same event is kept once. */
  digest: z.string().regex(/^[\w-]{43}$/),
  reference: z.string().max(100).optional(),
  /** What could not be read, and the status: `reference absent, status reversed`. */
  problem: z.string().regex(/^[\x20-\x7e]{1,200}$/),
});
export type UnreadableMessage = z.infer<typeof unreadableMessage>;

/** A message of the outcomes queue. It holds no personal data. */
export const outcomeMessage = z.discriminatedUnion("kind", [verdictMessage, eventMessage, unreadableMessage]);
export type OutcomeMessage = z.infer<typeof outcomeMessage>;
export type SettlementMessage = z.infer<typeof verdictMessage>;

export type OutcomeQueue = {
  /** Resolves once SQS has the message, before the deadline; it is read after `delayS` (at most 900). */
  readonly send: (message: OutcomeMessage, delayS: number, deadline: Deadline) => Promise<void>;
};

export const outcomeQueue = (sqs: SQSClient, queueUrl: string): OutcomeQueue => ({
  send: async (message, delayS, deadline) => {
    const command = new SendMessageCommand({
      QueueUrl: queueUrl,
      MessageBody: JSON.stringify(message),
      DelaySeconds: delayS,
    });
    await sqs.send(command, { abortSignal: abortAfter(deadline.remainingMs() - ANSWER_RESERVE_MS) });
  },
});
