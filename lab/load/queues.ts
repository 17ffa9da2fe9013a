import { DeleteMessageBatchCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import type { queues } from "../../infra/queues.ts";
import { deadLettersOf } from "../../shared/platform/queue-names.ts";
import type { AdminContext } from "../../tools/admin/context.ts";

type QueueName = keyof typeof queues;

export const urlOf = ({ target }: AdminContext, name: QueueName): string =>
  ({ outcomes: target.environment.OUTCOMES_QUEUE_URL, delivery: target.environment.DELIVERY_QUEUE_URL })[name];

export const deadLettersUrlOf = (admin: AdminContext, name: QueueName): string =>
  urlOf(admin, name).replace(new RegExp(`${name}$`), deadLettersOf(name));

/** Receives and deletes all dead letters of a queue; resolves with their bodies. */
export const takeDeadLetters = async (admin: AdminContext, name: QueueName): Promise<readonly string[]> => {
  const QueueUrl = deadLettersUrlOf(admin, name);
  const bodies: string[] = [];
  for (;;) {
    const { Messages = [] } = await admin.sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
    if (Messages.length === 0) return bodies;
    bodies.push(...Messages.map(({ Body = "" }) => Body));
    const Entries = Messages.map(({ ReceiptHandle }, position) => ({ Id: String(position), ReceiptHandle }));
    await admin.sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  }
};
