import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { existsSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
// biome-ignore lint/correctness/noUnresolvedImports: a module of Node's that Biome does not know yet
import { DatabaseSync } from "node:sqlite";
import { CreateQueueCommand, type QueueAttributeName, SetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { startFauxqs } from "fauxqs";
import { sleep } from "../../shared/platform/time.ts";
import { ACCOUNT_ID, localClient, REGION } from "./local-aws.ts";

const STOP_MS_MAX = 500;

/** What a queue is, as infra/queues.ts says it. */
export type QueueShape = {
  readonly consumer: string;
  readonly batchSize: number;
  readonly visibilityTimeoutS: number;
  readonly receivesMax: number;
};

export type LocalQueues = {
  readonly endpoint: string;
  readonly client: SQSClient;
  readonly url: (queueName: string) => string;
  readonly stop: () => Promise<void>;
};

export const deadLettersOf = (queueName: string): string => `${queueName}-dead-letters`;
export const queueArn = (queueName: string): string => `arn:aws:sqs:${REGION}:${ACCOUNT_ID}:${queueName}`;

/** Starts SQS with the given queues, each with its dead letters; messages are kept below `dataDir`, or else in memory. */
export const startQueues = async (
  queues: Readonly<Record<string, QueueShape>>,
  dataDir?: string,
): Promise<LocalQueues> => {
  if (dataDir !== undefined) releaseHeld(join(dataDir, "fauxqs.db"));
  const server = await startFauxqs({ port: 0, logger: false, ...(dataDir !== undefined && { dataDir }) });
  const stopGuard = keepToLoopback(server.port);
  const endpoint = `http://127.0.0.1:${server.port}`;
  // Its queue URLs carry a host name that Node cannot resolve, and after a restart an old port.
  const client = new SQSClient({ ...localClient(endpoint), useQueueUrlAsEndpoint: false });
  const url = (queueName: string): string => `${endpoint}/${ACCOUNT_ID}/${queueName}`;

  const create = async (queueName: string, attributes: Partial<Record<QueueAttributeName, string>>): Promise<void> => {
    // Two calls, so that a queue of an earlier run gets changed attributes. The emulator's own createQueue() would empty it.
    await client.send(new CreateQueueCommand({ QueueName: queueName }));
    await client.send(new SetQueueAttributesCommand({ QueueUrl: url(queueName), Attributes: attributes }));
  };
  for (const [name, { visibilityTimeoutS, receivesMax }] of Object.entries(queues)) {
    await create(deadLettersOf(name), { MessageRetentionPeriod: "1209600" });
    const redrive = { deadLetterTargetArn: queueArn(deadLettersOf(name)), maxReceiveCount: receivesMax };
    await create(name, { VisibilityTimeout: String(visibilityTimeoutS), RedrivePolicy: JSON.stringify(redrive) });
  }

  return {
    endpoint,
    client,
    url,
    stop: async () => {
      client.destroy();
      await Promise.race([server.stop(), sleep(STOP_MS_MAX)]);
      stopGuard();
    },
  };
};

/**
 * Makes the messages that an earlier run held visible again at once, instead of when their time is up: whoever held them has ended
 * with it. One that was put off comes early too, which its consumer must bear in any case.
 */
const releaseHeld = (path: string): void => {
  if (!existsSync(path)) return;
  const database = new DatabaseSync(path);
  database.exec("UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL");
  database.close();
};

/** The emulator listens on every address of the machine; whoever is not on it is cut off before a byte is read. */
const keepToLoopback = (port: number): (() => void) => {
  const onSocket = (message: unknown): void => {
    if (typeof message !== "object" || message === null || !("socket" in message)) return;
    const { socket } = message;
    if (!(socket instanceof Socket) || socket.localPort !== port) return;
    if (!isLoopback(socket.remoteAddress)) socket.destroy();
  };
  subscribe("net.server.socket", onSocket);
  return () => {
    unsubscribe("net.server.socket", onSocket);
  };
};

const isLoopback = (address = ""): boolean => address === "::1" || address.replace(/^::ffff:/i, "").startsWith("127.");
