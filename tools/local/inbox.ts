import { appendFileSync } from "node:fs";
import { CreateTopicCommand, ListSubscriptionsByTopicCommand, SNSClient, SubscribeCommand } from "@aws-sdk/client-sns";
import { CreateQueueCommand } from "@aws-sdk/client-sqs";
import * as z from "#zod";
import { isMailFor } from "../../shared/notifications/mail-topic.ts";
import { localClient } from "./local-aws.ts";
import { consumeQueue } from "./queue-consumer.ts";
import { type LocalQueues, queueArn } from "./queues.ts";

const TOPIC = "notifications";
const QUEUE = "notification-emails";

export type Inbox = Awaited<ReturnType<typeof openInbox>>;

/** What SNS puts into a queue. Source: AWS, "Parsing Amazon SNS message formats". */
const published = z.object({
  Subject: z.string(),
  Message: z.string(),
  MessageAttributes: z.record(z.string(), z.object({ Value: z.string() })),
});
const batch = z.object({ Records: z.array(z.object({ body: z.string() })) });

/**
 * The topic of notifications. The emulator sends no e-mail: what the service sends to the topic is written to a file,
 * with those whom it is for.
 */
export const openInbox = async (
  { client, endpoint, url }: LocalQueues,
  file: string,
  onEmail: (address: string, subject: string) => void,
) => {
  const sns = new SNSClient(localClient(endpoint));
  const { TopicArn } = await sns.send(new CreateTopicCommand({ Name: TOPIC }));
  if (TopicArn === undefined) throw new Error("The local SNS (fauxqs) made no topic");
  await client.send(new CreateQueueCommand({ QueueName: QUEUE }));
  await sns.send(new SubscribeCommand({ TopicArn, Protocol: "sqs", Endpoint: queueArn(QUEUE) }));

  const write = async (body: string): Promise<void> => {
    const { Subject, Message, MessageAttributes } = published.parse(JSON.parse(body));
    const { Subscriptions = [] } = await sns.send(new ListSubscriptionsByTopicCommand({ TopicArn }));
    for (const { Protocol, Endpoint = "" } of Subscriptions) {
      if (Protocol !== "email" || !isMailFor(Endpoint, MessageAttributes)) continue;
      appendFileSync(file, `To: ${Endpoint}\nSubject: ${Subject}\n\n${Message}\n\n---\n`);
      onEmail(Endpoint, Subject);
    }
  };
  const consumer = consumeQueue({
    ...{ client, queueName: QUEUE, queueUrl: url(QUEUE), batchSize: 10, concurrencyMax: 1, functionName: "inbox" },
    invoke: async (_name, event) => {
      for (const { body } of batch.parse(event).Records) await write(body);
    },
  });
  return {
    topicArn: TopicArn,
    stop: async (): Promise<void> => {
      await consumer.stop();
      sns.destroy();
    },
  };
};
