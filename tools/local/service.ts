import * as z from "zod";
import { queues } from "../../infra/queues.ts";
import { LEDGER_SCHEDULE, scheduledFunctions } from "../../infra/schedules.ts";
import { SettingsError } from "../../infra/settings-error.ts";
import { streams } from "../../infra/streams.ts";
import { routes } from "../../shared/contract/routes.ts";
import { documentClient, secretsClient } from "../../shared/platform/aws-clients.ts";
import type { environment } from "../../shared/platform/env.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { type Simulator, type SimulatorOptions, startSimulator } from "../simulator/server.ts";
import { SIMULATOR_SIGNATURE } from "../simulator/webhooks.ts";
import { openDataDir } from "./data-dir.ts";
import { demoAccount } from "./demo-account.ts";
import { dynamoDbElsewhere, endLeftOverDynoxide, type LocalDynamoDb, startDynoxide } from "./dynamodb.ts";
import { loadFunctions } from "./functions.ts";
import { type Gateway, openGateway } from "./gateway.ts";
import { readJsonFile, writeJsonFile } from "./json-file.ts";
import { localAwsEnvironment, setEnvironment } from "./local-aws.ts";
import { consumeQueue } from "./queue-consumer.ts";
import { startQueues } from "./queues.ts";
import { startSchedule } from "./schedules.ts";
import { loadSecrets, startSecretsManager } from "./secrets.ts";
import { removeStaleServiceFile, type ServiceDetails, writeServiceFiles } from "./service-file.ts";
import type { Settings } from "./settings.ts";
import { newShutdown } from "./shutdown.ts";
import { consumeStream } from "./stream-consumer.ts";
import { createTables, dropCacheTable, tableNames } from "./tables.ts";

const FUNCTIONS = new URL("../../functions/", import.meta.url);
const DEFAULT_FUNCTION = "not-found";
const SIMULATED = "simulator";
const WEBHOOK_KEY = "webhook-key";
const LOOPBACK = "127.0.0.0/8,::1/128";
/** Ten times the interface's, for all local accounts share the one key there. */
const SIMULATOR_LIMITS = { vtu: 600, identity: 300, catalog: 1_200 };
/** NGN. */
const IDENTITY_PRICES = {
  nin: { basic: 150, advanced: 250, retrieve: 400 },
  bvn: { basic: 100, advanced: 200, retrieve: 300 },
};

/** Everything can be left out: then a free port is taken, and nothing outlives the service. */
export type ServiceSettings = Partial<Settings> & {
  readonly simulator?: Omit<SimulatorOptions, "liveKey" | "webhook">;
  /** False keeps the ends of transactions to itself: nothing reads the ledger's stream. */
  readonly announces?: boolean;
  /** Hears what the start is doing, a sentence at a time. */
  readonly say?: (sentence: string) => void;
};

export type RunningService = {
  readonly details: ServiceDetails;
  /** Absent when an upstream elsewhere was given. */
  readonly simulator?: Simulator;
  readonly dynamodb: LocalDynamoDb;
  /** Resolves with a sentence if a part that the service cannot do without has ended by itself. */
  readonly broke: Promise<string>;
  /** Ends everything that was started, within 3 s. */
  readonly stop: () => Promise<void>;
};

/**
 * Starts the whole service in this process: the functions behind a gateway, with all that they need of AWS, and an upstream.
 * One at a time in a process, for the functions read the environment that is set here.
 */
export const startService = async (settings: ServiceSettings = {}): Promise<RunningService> => {
  const say = settings.say ?? (() => {});
  const shutdown = newShutdown();
  try {
    const dataDir = openDataDir(settings.dataDir);
    shutdown.last.push(dataDir.close);
    await endLeftOverDynoxide({ databaseFile: dataDir.file("tables"), pidFile: dataDir.file("tablesProcess") });
    if (settings.fresh) {
      dataDir.forget();
      if (settings.dynamodbEndpoint) say(`The tables at ${settings.dynamodbEndpoint} are left as they are`);
    }
    if (settings.serviceFile !== undefined) removeStaleServiceFile(settings.serviceFile);

    const gateway = await gatewayAt(settings.port ?? 0);
    shutdown.first.push(gateway.close);
    const secrets = loadSecrets(dataDir.file("secrets"));
    const webhook = {
      url: `${gateway.origin}/v1/webhooks/upstream/${secrets["webhook-token"]}`,
      secret: secrets["upstream-webhook-hmac"],
    };

    let simulator: Simulator | undefined;
    if (settings.upstream === undefined) {
      say("Starting the upstream simulator");
      simulator = await startSimulator({
        limits: SIMULATOR_LIMITS,
        ...settings.simulator,
        liveKey: secrets["upstream-key"],
        webhook,
      });
      shutdown.then.push(simulator.stop);
    }
    const upstream = settings.upstream ?? { baseUrl: simulator?.baseUrl ?? "", liveKey: secrets["upstream-key"] };

    say(settings.dynamodbEndpoint ? `Using DynamoDB at ${settings.dynamodbEndpoint}` : "Starting DynamoDB (dynoxide)");
    const dynamodb = settings.dynamodbEndpoint
      ? dynamoDbElsewhere(settings.dynamodbEndpoint)
      : await startDynoxide({
          pidFile: dataDir.file("tablesProcess"),
          logFile: dataDir.file("tablesLog"),
          ...(settings.dataDir !== undefined && { databaseFile: dataDir.file("tables") }),
        });
    shutdown.then.push(dynamodb.stop);
    await prepareTables(dynamodb.endpoint, dataDir.file("upstream"), settings.upstream?.baseUrl ?? SIMULATED);

    say("Starting SQS (fauxqs) and Secrets Manager");
    const sqs = await startQueues(queues, dataDir.file("queues"));
    shutdown.then.push(sqs.stop);
    // A key of a provider elsewhere stays in memory: it is not ours to keep on disk.
    const secretsManager = await startSecretsManager(
      { ...secrets, "upstream-key": upstream.liveKey },
      dataDir.file("secrets"),
    );
    shutdown.then.push(secretsManager.stop);

    const functionEnvironment: Record<keyof typeof environment.shape, string> = {
      ACCESS_TABLE: tableNames.access,
      LEDGER_TABLE: tableNames.ledger,
      CACHE_TABLE: tableNames.cache,
      OUTCOMES_QUEUE_URL: sqs.url("outcomes"),
      DELIVERY_QUEUE_URL: sqs.url("delivery"),
      UPSTREAM_BASE_URL: upstream.baseUrl,
      UPSTREAM_KEY_SECRET_ID: "upstream-key",
      REFERENCE_KEY_SECRET_ID: "reference-key",
      REPLAY_KEY_SECRET_ID: "replay-key",
      WEBHOOK_KEY_SECRET_ID: WEBHOOK_KEY,
      WEBHOOK_ALLOWED_CIDRS: LOOPBACK,
      WEBHOOK_REFUSED_HOSTS: [gateway.origin, upstream.baseUrl].map((url) => new URL(url).host).join(),
      IDENTITY_PRICES: JSON.stringify(IDENTITY_PRICES),
      UPSTREAM_DATES: "day-first",
      AIRTIME_NAIRA_MAX: "50000",
      PHONE_RETENTION_DAYS: "400",
      PURCHASES: settings.purchases ?? "on",
      WORKERS: settings.workers ?? "on",
      WEBHOOK_TOKEN_SECRET_ID: "webhook-token",
      UPSTREAM_HMAC_SECRET_ID: "upstream-webhook-hmac",
      // How an upstream elsewhere signs is not known here.
      UPSTREAM_SIGNATURE: simulator === undefined ? "" : JSON.stringify(SIMULATOR_SIGNATURE),
      UPSTREAM_WEBHOOK_IPS: LOOPBACK,
    };
    const endpoints = { dynamodb: dynamodb.endpoint, sqs: sqs.endpoint, secretsManager: secretsManager.endpoint };
    shutdown.last.push(setEnvironment({ ...functionEnvironment, ...localAwsEnvironment(endpoints) }));

    say("Loading the functions");
    const invoke = await loadFunctions(functionNames(), FUNCTIONS);
    const isWorking = functionEnvironment.WORKERS === "on";
    for (const [queueName, { consumer, batchSize }] of isWorking ? Object.entries(queues) : []) {
      const { client, url } = sqs;
      const mapping = { client, queueName, queueUrl: url(queueName), batchSize, functionName: consumer, invoke };
      shutdown.first.push(consumeQueue(mapping).stop);
    }
    if (settings.announces !== false) {
      const { consumer: functionName, ...mapping } = streams.ledger;
      const checkpointPath = dataDir.file("ledgerStream");
      const { endpoint } = dynamodb;
      const table = tableNames.ledger;
      shutdown.first.push(consumeStream({ ...mapping, endpoint, table, functionName, invoke, checkpointPath }).stop);
    }
    say(`Fetching the catalog from ${upstream.baseUrl}`);
    const schedules = await Promise.all(
      scheduledFunctions
        .filter((name) => isWorking || name !== LEDGER_SCHEDULE)
        .map((name) => startSchedule(name, invoke)),
    );
    for (const schedule of schedules) shutdown.first.push(schedule.stop);
    if (!schedules.every(({ firstRun }) => firstRun)) {
      say("The catalog could not be fetched yet; this is tried again every minute");
    }

    const db = documentClient();
    const accounts = { db, accessTable: tableNames.access, ledgerTable: tableNames.ledger };
    const webhooks = { accounts, webhookSealingKey: secret(secretsClient(), WEBHOOK_KEY), clock: systemClock };
    const demo = await demoAccount(accounts, webhooks, dataDir.file("demoAccount"));
    db.destroy();

    gateway.serve(invoke);
    const details: ServiceDetails = {
      base_url: `${gateway.origin}/v1`,
      upstream: { base_url: upstream.baseUrl, webhook_url: webhook.url, webhook_secret: webhook.secret },
      accounts: [demo],
    };
    if (settings.serviceFile !== undefined) {
      const admin = { base_url: details.base_url, environment: functionEnvironment, endpoints };
      shutdown.first.push(writeServiceFiles(settings.serviceFile, details, admin));
    }
    return {
      details,
      ...(simulator && { simulator }),
      dynamodb,
      broke: dynamodb.broke.then(() => "The local DynamoDB (dynoxide) has ended."),
      stop: shutdown.run,
    };
  } catch (error) {
    await shutdown.run();
    throw error;
  }
};

const gatewayAt = async (port: number): Promise<Gateway> => {
  try {
    return await openGateway({ port, routes: Object.values(routes), defaultFunction: DEFAULT_FUNCTION });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EADDRINUSE") {
      throw new SettingsError(`Port ${port} is in use: PORT=0 npm start takes a free one.`, { cause: error });
    }
    if (code === "EACCES") throw new SettingsError(`Port ${port} may not be used by you.`, { cause: error });
    throw error;
  }
};

const upstreamFile = z.object({ upstream: z.string() });

/** Makes the tables. A catalog that came from another upstream is forgotten: its plans may mean other things here. */
const prepareTables = async (endpoint: string, path: string, upstream: string): Promise<void> => {
  const before = readJsonFile(path, upstreamFile)?.upstream;
  if (before !== undefined && before !== upstream) await dropCacheTable(endpoint);
  writeJsonFile(path, { upstream });
  await createTables(endpoint);
};

const functionNames = (): string[] => [
  ...Object.values(routes).map((route) => route.function),
  ...Object.values(queues).map((queue) => queue.consumer),
  ...Object.values(streams).map((stream) => stream.consumer),
  DEFAULT_FUNCTION,
  ...scheduledFunctions,
];
