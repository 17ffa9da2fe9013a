import type { Message } from "@aws-sdk/client-sqs";
import * as z from "#zod";
import { type DeadLetterKind, type deadLettersActions, REDRIVE_MAX } from "../contract/actions/dead-letters.ts";
import { jsonOf } from "../contract/values/json.ts";
import { type EndpointEventName, TRANSACTION_UPDATED } from "../contract/webhook-events.ts";
import { SERVICE } from "../ledger/audit.ts";
import { referenceOf } from "../ledger/transaction.ts";
import { type OutcomeMessage, outcomeMessage } from "../orders/outcome-message.ts";
import { allEnded } from "../platform/all-ended.ts";
import { isoTime } from "../platform/time.ts";
import { deliveryMessage } from "../webhooks/delivery-queue.ts";
import { accountEventId } from "../webhooks/webhook-event.ts";
import { type ActionContext, recordAudited } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";
import { referencesOf } from "./require-transaction.ts";

/** The most that SQS returns at once. */
const RECEIVE_MAX = 10;
/** Non-zero turns on long polling: SQS asks all its servers, and returns at once if one has a message. */
const LONG_POLL_S = 1;
/** Longer than a redrive takes, so that no two redrives move the same message. */
const REDRIVE_VISIBILITY_S = 60;

export const deadLettersRuns: ActionRuns<typeof deadLettersActions> = {
  "dead-letters list": async (context) => {
    const { outcomes, delivery, stream, schedules } = context.queues.deadLetters;
    const queues = await Promise.all([
      listQueue(context, "outcomes", outcomes, outcomeSummary),
      listQueue(context, "delivery", delivery, deliverySummary),
      ...(stream === undefined ? [] : [listQueue(context, "stream", stream, streamSummary)]),
      ...(schedules === undefined ? [] : [listQueue(context, "schedules", schedules, scheduleSummary)]),
    ]);
    return { queues };
  },
  "dead-letters redrive": async (context, { queue, why }) => {
    const from = context.queues.deadLetters[queue];
    await recordAudited(context, SERVICE, { action: "dead-letters redrive", why, details: { queue } });
    let moved = 0;
    while (moved < REDRIVE_MAX) {
      const messages = await receive(context, from, REDRIVE_VISIBILITY_S);
      if (messages.length === 0) return { queue, moved, may_have_more: false };
      await allEnded(messages.map((message) => move(context, message, from, context.queues[queue])));
      moved += messages.length;
    }
    return { queue, moved, may_have_more: true };
  },
};

const receive = async ({ sqs }: ActionContext, QueueUrl: string, VisibilityTimeout: number): Promise<Message[]> => {
  const { Messages = [] } = await sqs.receiveMessage({
    QueueUrl,
    VisibilityTimeout,
    MaxNumberOfMessages: RECEIVE_MAX,
    WaitTimeSeconds: LONG_POLL_S,
    MessageSystemAttributeNames: ["All"],
    MessageAttributeNames: ["All"],
  });
  return Messages;
};

/** Sends before it deletes: a crash in between repeats the message, which both consumers tolerate. */
const move = async ({ sqs }: ActionContext, message: Message, from: string, to: string): Promise<void> => {
  const { Body, MessageAttributes, Attributes, ReceiptHandle } = message;
  await sqs.sendMessage({
    QueueUrl: to,
    MessageBody: Body,
    ...(MessageAttributes && { MessageAttributes }),
    ...(Attributes?.MessageGroupId !== undefined && { MessageGroupId: Attributes.MessageGroupId }),
  });
  await sqs.deleteMessage({ QueueUrl: from, ReceiptHandle });
};

/** About how many messages a queue has. */
export const countMessages = async ({ sqs }: ActionContext, QueueUrl: string): Promise<number> => {
  const attribute = "ApproximateNumberOfMessages";
  const { Attributes } = await sqs.getQueueAttributes({ QueueUrl, AttributeNames: [attribute] });
  return Number(Attributes?.[attribute] ?? 0);
};

/** What may be shown of a message. `transaction`: the key of the transaction that it is about. */
type Summary = {
  readonly kind: DeadLetterKind | EndpointEventName;
  readonly why: string;
  readonly about?: string | undefined;
  readonly transaction?: string;
};
type DeadLetterQueue = keyof ActionContext["queues"]["deadLetters"];

const listQueue = async <Name extends DeadLetterQueue>(
  context: ActionContext,
  queue: Name,
  url: string,
  summaryOf: (message: Message) => Summary,
) => {
  const number = await countMessages(context, url);
  // They stay visible, so a redrive finds them.
  const received = number === 0 ? [] : await receive(context, url, 0);
  const summaries = received.map((message) => ({ message, ...summaryOf(message) }));
  const references = await referencesOf(
    context,
    summaries.flatMap(({ transaction: pk }) => pk ?? []),
  );
  const messages = summaries
    .map(({ message, kind, why, about, transaction }) => ({
      id: message.MessageId ?? "",
      kind,
      about: about ?? references.get(transaction ?? "") ?? null,
      sent_at: isoTime(Number(message.Attributes?.SentTimestamp ?? 0)),
      why,
    }))
    .sort((one, other) => (one.sent_at < other.sent_at ? -1 : 1));
  const [oldest] = messages;
  const ageMs = oldest && context.ledger.clock() - Date.parse(oldest.sent_at);
  return { queue, number, oldest_s: ageMs === undefined ? null : Math.max(0, Math.floor(ageMs / 1_000)), messages };
};

const UNREADABLE: Summary = { kind: "unknown", why: "cannot be read" };
/** The log has the reason, but the message does not. */
const FAILED = "failed each time it was handled";

const outcomeSummary = ({ Body = "" }: Message): Summary => {
  const { data: message } = outcomeMessage.safeParse(jsonOf(Body));
  if (message === undefined) return UNREADABLE;
  return { kind: message.kind, why: FAILED, ...subjectOf(message) };
};

const subjectOf = (message: OutcomeMessage): Pick<Summary, "about" | "transaction"> => {
  if (message.kind === "void") return { about: referenceOf(message.item) };
  return "transaction_pk" in message ? { transaction: message.transaction_pk } : { about: message.reference };
};

const deliverySummary = ({ Body = "" }: Message): Summary => {
  const { data: message } = deliveryMessage.safeParse(jsonOf(Body));
  if (message === undefined) return UNREADABLE;
  return {
    kind: message.event,
    why: FAILED,
    ...(message.event === TRANSACTION_UPDATED
      ? { transaction: message.transaction_pk }
      : { about: accountEventId(message) }),
  };
};

/** Source: AWS, "Using AWS Lambda with Amazon DynamoDB", "Add an on-failure destination". */
const streamRecord = z.object({
  requestContext: z.object({ condition: z.string() }),
  DDBStreamBatchInfo: z.object({ batchSize: z.int(), approximateArrivalOfFirstRecord: z.string() }),
});

const streamSummary = ({ Body = "" }: Message): Summary => {
  const { data } = streamRecord.safeParse(jsonOf(Body));
  if (data === undefined) return UNREADABLE;
  const { batchSize, approximateArrivalOfFirstRecord } = data.DDBStreamBatchInfo;
  return {
    kind: "changes",
    about: `${batchSize} from ${approximateArrivalOfFirstRecord}`,
    why: data.requestContext.condition,
  };
};

/** Source: AWS, "Using dead-letter queues to process undelivered events" of EventBridge. */
const scheduleSummary = ({ MessageAttributes = {} }: Message): Summary => ({
  kind: "run",
  about: MessageAttributes.TARGET_ARN?.StringValue?.split(":function:").at(-1),
  why: MessageAttributes.ERROR_CODE?.StringValue ?? "could not be invoked",
});
