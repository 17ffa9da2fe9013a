import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { existsSync } from "node:fs";
import { Server } from "node:net";
import { join } from "node:path";
// biome-ignore lint/correctness/noUnresolvedImports: a module of Node's that Biome does not know yet
import { DatabaseSync } from "node:sqlite";
import { CreateQueueCommand, type QueueAttributeName, SetQueueAttributesCommand, SQS } from "@aws-sdk/client-sqs";
import { type FauxqsServer, startFauxqs } from "fauxqs";
import { deadLettersOf } from "../../shared/platform/queue-names.ts";
import { sleep } from "../../shared/platform/time.ts";
import { ACCOUNT_ID, pollingClient, REGION } from "./local-aws.ts";
import { LOOPBACK } from "./loopback.ts";

const STOP_MS_MAX = 500;
/** Longer than a poll of the queue consumer. */
const ANSWER_MS_MAX = 30_000;

type QueueSpec = {
  readonly consumer: string;
  readonly batchSize: number;
  readonly visibilityTimeoutS: number;
  readonly receivesMax: number;
};

export type LocalQueues = Awaited<ReturnType<typeof startQueues>>;

export const queueArn = (queueName: string): string => `arn:aws:sqs:${REGION}:${ACCOUNT_ID}:${queueName}`;

/** Starts SQS with queues and their dead letter queues; messages are stored below `dataDir`, or else in memory. */
export const startQueues = async (queues: Readonly<Record<string, QueueSpec>>, dataDir?: string) => {
  if (dataDir !== undefined) makeInFlightVisible(join(dataDir, "fauxqs.db"));
  const server = await startOnLoopback({ port: 0, logger: false, ...(dataDir !== undefined && { dataDir }) });
  const endpoint = `http://${LOOPBACK}:${server.port}`;
  // The emulator's queue URLs have a host name that Node cannot resolve and, after a restart, an old port.
  const client = new SQS({ ...pollingClient(endpoint, ANSWER_MS_MAX), useQueueUrlAsEndpoint: false });
  const url = (queueName: string): string => `${endpoint}/${ACCOUNT_ID}/${queueName}`;

  const create = async (queueName: string, attributes: Partial<Record<QueueAttributeName, string>>): Promise<void> => {
    // Two calls, so a queue of an earlier run gets changed attributes. The emulator's createQueue() would empty it.
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
    /** How many messages a queue holds, and how many of them a receive finds now. */
    messages: (queueName: string) => {
      const { ready = [], delayed = [], inflight = [] } = server.inspectQueue(queueName)?.messages ?? {};
      const hiddenUntilMs = [
        ...delayed.map(({ delayUntil = 0 }) => delayUntil),
        ...inflight.map(({ visibilityDeadline }) => visibilityDeadline),
      ];
      return {
        all: ready.length + hiddenUntilMs.length,
        visible: ready.length + hiddenUntilMs.filter((untilMs) => untilMs <= Date.now()).length,
      };
    },
    stop: async (): Promise<void> => {
      client.destroy();
      await Promise.race([server.stop(), sleep(STOP_MS_MAX)]);
    },
  };
};

/**
 * Makes messages that were in flight in an earlier run visible now, because their consumer has ended with it. A delayed
 * message becomes visible early too, which SQS permits and consumers tolerate.
 */
const makeInFlightVisible = (path: string): void => {
  if (!existsSync(path)) return;
  const database = new DatabaseSync(path);
  // A run that was killed while it made the file left no table.
  const hasTable = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'sqs_messages'").get() !== undefined;
  if (hasTable) database.exec("UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL");
  database.close();
};

/**
 * Starts the emulator, which listens on all addresses and has no setting for another. The address is changed to
 * loopback before the socket is bound; if that has no effect, as in another version of Node or of the emulator, the
 * start fails.
 */
const startOnLoopback = async (options: Parameters<typeof startFauxqs>[0]): Promise<FauxqsServer> => {
  const listening: Server[] = [];
  const onListen = (message: unknown): void => {
    if (!isListen(message) || message.options.host !== ALL_ADDRESSES) return;
    message.options.host = LOOPBACK;
    listening.push(message.server);
  };
  subscribe(LISTEN_CHANNEL, onListen);
  try {
    const server = await startFauxqs(options);
    const addresses = listening.map((socket) => socket.address());
    const isBound = addresses.some((bound) => typeof bound === "object" && bound?.address === LOOPBACK);
    if (isBound) return server;
    await server.stop();
    throw new Error("The local SQS (fauxqs) could not be bound to loopback");
  } finally {
    unsubscribe(LISTEN_CHANNEL, onListen);
  }
};

/** Node publishes to this channel before a server binds its address. Source: Node.js, "Diagnostics Channel", net. */
const LISTEN_CHANNEL = "tracing:net.server.listen:asyncStart";
const ALL_ADDRESSES = "0.0.0.0";

type Listen = { readonly server: Server; readonly options: { host?: unknown } };
const isListen = (message: unknown): message is Listen =>
  typeof message === "object" &&
  message !== null &&
  "server" in message &&
  message.server instanceof Server &&
  "options" in message &&
  typeof message.options === "object" &&
  message.options !== null;
