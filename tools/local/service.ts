import { consoleFiles, docsPage } from "#bundles";
import * as z from "#zod";
import { consoleRoutes, operatorRoutes } from "../../infra/console-routes.ts";
import { defaultFunction, functionNames, type ScheduledFunction, specOf } from "../../infra/functions.ts";
import { callerRoutes, routeLimits } from "../../infra/gateway.ts";
import { queues } from "../../infra/queues.ts";
import { scheduledFunctions, scheduleOf } from "../../infra/schedules.ts";
import { SettingsError } from "../../infra/settings-error.ts";
import { streamConsumers } from "../../infra/streams.ts";
import type { AccountStore } from "../../shared/access/account-store.ts";
import { routes } from "../../shared/contract/routes.ts";
import { checkReferenceKey } from "../../shared/ledger/reference-key.ts";
import { parseUpstreamCosts } from "../../shared/ledger/upstream-costs.ts";
import { openDynamoDb, openSecretsManager } from "../../shared/platform/aws/sdk.ts";
import type { FunctionEnvironment } from "../../shared/platform/env.ts";
import { loadKeyedHashes } from "../../shared/platform/keyed-hashes.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { usableKeys } from "../../shared/upstream/key-pool.ts";
import type { ProfileChanges } from "../../shared/upstream/profile.ts";
import { type Simulator, type SimulatorOptions, startSimulator } from "../simulator/server.ts";
import { type DataDir, openDataDir } from "./data-dir.ts";
import { type DemoAccount, openDemoAccount } from "./demo-account.ts";
import { endOrphan, externalDynamoDb, type LocalDynamoDb } from "./emulator.ts";
import { functionEnvironment, simulatorProfile } from "./function-environment.ts";
import { type Invoke, loadFunctions } from "./functions.ts";
import { type Gateway, openGateway } from "./gateway.ts";
import type { GatewayRoute } from "./gateway-event.ts";
import { openIdentityProvider } from "./identity-provider.ts";
import { openInbox } from "./inbox.ts";
import { readJsonFile, writeJsonFile } from "./json-file.ts";
import { localAwsEnvironment, setEnvironment } from "./local-aws.ts";
import { consumeQueue } from "./queue-consumer.ts";
import { type LocalQueues, startQueues } from "./queues.ts";
import { makeSampleBooks } from "./sample-books.ts";
import { startSchedule } from "./schedules.ts";
import { loadSecrets, type Secrets, startSecretsManager } from "./secrets.ts";
import { lockServiceFile, removeServiceFiles, type ServiceDetails, writeServiceFiles } from "./service-file.ts";
import type { Settings } from "./settings.ts";
import { createShutdown, type Shutdown, type ShutdownPhase } from "./shutdown.ts";
import { startDynamoDb } from "./start-dynamodb.ts";
import { consumeStream } from "./stream-consumer.ts";
import { createTables, dropCacheTable, localTableNames, type TableNames, tableNamesOf } from "./tables.ts";

const FUNCTIONS = new URL("../../functions/", import.meta.url);
const allRoutes: readonly GatewayRoute[] = [...Object.values(routes), ...consoleRoutes, ...operatorRoutes];
/**
 * Streams, their checkpoints, and the milliseconds between two polls. Webhooks are polled for as often as by Lambda
 * (AWS, "Polling and batching streams"). Nobody waits for the others, and polling is most of what an idle service does.
 */
const consumedStreams = [
  ["webhooks", "ledgerStream", 250],
  ["statistics", "statisticsStream", 2_000],
  ["attestations", "auditStream", 2_000],
] as const;
/** Ten times the limits of docs/interface.md 6.1, because all local accounts share one upstream key. */
const SIMULATOR_LIMITS = { vtu: 600, identity: 300, catalog: 1_200 };

/** All are optional. By default a free port is used and no data is kept. */
export type ServiceSettings = Partial<Settings> & {
  readonly simulator?: Omit<SimulatorOptions, "liveKey" | "webhook">;
  /** When queued orders are sent, and the function's time-out, for an upstream whose minutes are shorter. */
  readonly sender?: { readonly everyMs: number; readonly timeoutMs: number };
  /** `rest`: the routes for callers get the events of a REST API. */
  readonly front?: "http" | "rest";
  /** How long an ID token lasts that the identity provider issues now, in seconds. */
  readonly idTokenS?: () => number;
  /** True: what moves money is proposed, and another person approves it. */
  readonly fourEyes?: boolean;
  /** False: no stream is consumed, so no webhooks are enqueued, nothing is counted and no audit entry is attested. */
  readonly sendsWebhooks?: boolean;
  /** True: made-up books are written, unless the data directory has them. Never beside real orders of another upstream. */
  readonly sampleBooks?: boolean;
  /** Gets the access log's line of each answer. */
  readonly accessLog?: (line: string) => void;
  /** Called with a sentence at each step of the start. */
  readonly onProgress?: (sentence: string) => void;
};

export type RunningService = {
  readonly details: ServiceDetails;
  /** Absent if the settings name another upstream. */
  readonly simulator?: Simulator;
  readonly dynamodb: LocalDynamoDb;
  /** Resolves with a sentence if a required part exits by itself. */
  readonly failure: Promise<string>;
  /** Stops everything that was started, within 3 s. */
  readonly stop: () => Promise<void>;
};

type Start = {
  readonly settings: ServiceSettings;
  readonly shutdown: Shutdown;
  /** Has the shutdown stop a part that was started. */
  readonly kept: <Part extends { readonly stop: () => Promise<void> }>(phase: ShutdownPhase, part: Part) => Part;
  readonly onProgress: (sentence: string) => void;
};

/**
 * Starts the whole service in this process: the functions behind a gateway, the parts of AWS that they need, and an
 * upstream. A process can run one at a time, because the functions read their environment from the process.
 */
export const startService = async (settings: ServiceSettings = {}): Promise<RunningService> => {
  const shutdown = createShutdown();
  const kept: Start["kept"] = (phase, part) => {
    shutdown.add(phase, part.stop);
    return part;
  };
  try {
    return await startParts({ settings, shutdown, kept, onProgress: settings.onProgress ?? (() => {}) });
  } catch (error) {
    await shutdown.run();
    throw error;
  }
};

/** Every step needs only what the steps before it created. */
const startParts = async (start: Start): Promise<RunningService> => {
  const { settings, shutdown, kept, onProgress } = start;
  const dataDir = await prepareDataDir(start);
  // Opened first, because its port is part of the webhook URL; it serves once everything else runs.
  const gateway = await openServiceGateway(start);
  const { origin: consoleOrigin } = gateway;
  const portFile = dataDir.file("identityProvider");
  const { idTokenS } = settings;
  const provider = kept("dependencies", await openIdentityProvider({ consoleOrigin, portFile, idTokenS }));
  const secrets = loadSecrets(dataDir.file("secrets"));
  const webhook = upstreamWebhook(gateway, secrets);
  const upstream = await connectUpstream(start, secrets, webhook);
  const isShared = settings.dynamodbEndpoint !== undefined && settings.dataDir !== undefined;
  const tables = isShared ? tableNamesOf(secrets["reference-key"]) : localTableNames;
  const dynamodb = await startDatabase(start, dataDir, tables);
  onProgress("Starting SQS (fauxqs)");
  const sqs = kept("dependencies", await startQueues(queues, dataDir.file("queues")));
  const emails = dataDir.file("emails");
  const onEmail = (address: string, subject: string): void =>
    onProgress(`An e-mail to ${address} is in ${emails}: ${subject}`);
  const inbox = kept("inbound", await openInbox(sqs, emails, onEmail));
  onProgress("Starting Secrets Manager");
  // The key of an upstream from the settings is served from memory and not written to the data directory.
  const values = { ...secrets, "upstream-key": upstream.liveKey };
  const secretsManager = kept("dependencies", await startSecretsManager(values, dataDir.file("secrets")));

  const endpoints = { dynamodb: dynamodb.endpoint, sqs: sqs.endpoint, secretsManager: secretsManager.endpoint };
  const environment = functionEnvironment({
    settings,
    gatewayOrigin: gateway.origin,
    upstream,
    sqs,
    topicArn: inbox.topicArn,
    console: provider.settings,
    tables,
  });
  shutdown.add("process", setEnvironment({ ...environment, ...localAwsEnvironment(endpoints) }));

  onProgress("Loading the functions");
  // Read at the first request of each: only then Vite builds the console.
  Object.defineProperty(globalThis, "CONSOLE_FILES", { get: consoleFiles, configurable: true });
  Object.defineProperty(globalThis, "BUNDLED_DOCS_PAGE", { get: docsPage, configurable: true });
  const invoke = await loadFunctions(
    functionNames.filter((name) => !specOf(name).copiesAudit),
    FUNCTIONS,
  );
  // Before the streams are read, because nobody is to hear of it, and before the first scheduled run, which adds up what
  // orders cost and verifies closed months.
  if (settings.sampleBooks) await ensureSampleBooks(start, dataDir, environment);
  const isWorking = environment.WORKERS === "on";
  if (isWorking) consumeQueues(start, sqs, invoke);
  if (settings.sendsWebhooks !== false) await consumeStreams(start, dataDir, dynamodb, tables, invoke);
  onProgress(`Fetching the catalog from ${upstream.baseUrl}`);
  await startSchedules(
    start,
    scheduledFunctions.filter((name) => isWorking || !scheduleOf(name).isWorker),
    invoke,
  );
  const demoAccount = await ensureDemoAccount(dataDir, environment);
  gateway.serve(invoke, provider.authorize);

  const details: ServiceDetails = {
    base_url: `${gateway.origin}/v1`,
    upstream: { base_url: upstream.baseUrl, webhook_url: webhook.url, webhook_secret: webhook.secret },
    accounts: [demoAccount],
    console: { url: `${gateway.origin}/console`, issuer: provider.settings.issuer },
  };
  const { serviceFile } = settings;
  if (serviceFile !== undefined) {
    shutdown.add("inbound", () => removeServiceFiles(serviceFile));
    writeServiceFiles(serviceFile, details, { base_url: details.base_url, environment, endpoints });
  }
  return {
    details,
    ...(upstream.simulator && { simulator: upstream.simulator }),
    dynamodb,
    failure: dynamodb.exited.then(() => `The local DynamoDB (${dynamodb.name}) has exited.`),
    stop: shutdown.run,
  };
};

const prepareDataDir = async ({ settings, shutdown }: Start): Promise<DataDir> => {
  const dataDir = openDataDir(settings.dataDir);
  shutdown.add("process", dataDir.close);
  if (settings.serviceFile !== undefined) shutdown.add("process", lockServiceFile(settings.serviceFile));
  await endOrphan({ store: dataDir.path, pidFile: dataDir.file("databasePid") });
  if (settings.fresh) dataDir.clear();
  if (settings.serviceFile !== undefined) removeServiceFiles(settings.serviceFile);
  return dataDir;
};

/** Without `requestsPerSecondMax` no route has a limit. */
const openServiceGateway = async ({ settings, shutdown }: Start): Promise<Gateway> => {
  const { port = 0, requestsPerSecondMax, accessLog, front } = settings;
  const limits = requestsPerSecondMax === undefined ? undefined : routeLimits(requestsPerSecondMax);
  try {
    const gateway = await openGateway({
      port,
      routes: allRoutes,
      defaultFunction,
      limits,
      accessLog,
      isRest: front === "rest" ? (key) => callerRoutes.has(key) : undefined,
    });
    shutdown.add("inbound", gateway.close);
    return gateway;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EADDRINUSE") {
      throw new SettingsError(`Port ${port} is in use: PORT=0 npm start takes a free one.`, { cause: error });
    }
    if (code === "EACCES") throw new SettingsError(`You are not allowed to use port ${port}.`, { cause: error });
    throw error;
  }
};

type UpstreamWebhook = { readonly url: string; readonly secret: string };

/** Where the upstream sends its events, and the secret that it signs them with. */
const upstreamWebhook = ({ origin }: Gateway, secrets: Secrets): UpstreamWebhook => ({
  url: `${origin}/v1/webhooks/upstream/${secrets["webhook-token"]}`,
  secret: secrets["upstream-webhook-hmac"],
});

type ConnectedUpstream = {
  readonly baseUrl: string;
  readonly liveKey: string;
  readonly profile: ProfileChanges;
  readonly simulator?: Simulator;
};

/** The upstream of the settings, or else a simulated one. */
const connectUpstream = async (
  start: Start,
  secrets: Secrets,
  webhook: UpstreamWebhook,
): Promise<ConnectedUpstream> => {
  const { settings, kept, onProgress } = start;
  if (settings.upstream !== undefined) return settings.upstream;
  onProgress("Starting the upstream simulator");
  const liveKey = secrets["upstream-key"];
  const { manner = "lenient", virtualNin = false } = settings;
  const options = { manner, virtualNin, ...settings.simulator };
  const simulator = await startSimulator({
    ...{ limits: SIMULATOR_LIMITS, ...options, webhook },
    ...{ liveKey: usableKeys(liveKey), testKey: secrets["upstream-test-key"] },
  });
  kept("dependencies", simulator);
  const profile = { ...simulatorProfile(options), limits: SIMULATOR_LIMITS };
  return { baseUrl: simulator.baseUrl, liveKey, profile, simulator };
};

/** The DynamoDB of the settings, or else one that is started here, with the service's tables. */
const startDatabase = async (
  { settings, shutdown, onProgress }: Start,
  dataDir: DataDir,
  tables: TableNames,
): Promise<LocalDynamoDb> => {
  const { dynamodbEndpoint, upstream } = settings;
  const dynamodb = dynamodbEndpoint
    ? externalDynamoDb(dynamodbEndpoint)
    : await startDynamoDb({
        files: { pidFile: dataDir.file("databasePid"), logFile: dataDir.file("databaseLog") },
        store: settings.dataDir === undefined ? undefined : dataDir.databaseStore,
        onProgress,
      });
  if (dynamodbEndpoint) onProgress(`Using DynamoDB at ${dynamodbEndpoint}`);
  shutdown.add("dependencies", dynamodb.stop);
  await prepareTables(dynamodb.endpoint, tables, dataDir.file("upstream"), upstream?.baseUrl ?? "simulator");
  return dynamodb;
};

const upstreamFile = z.object({ upstream: z.string() });

/**
 * Creates the tables. The catalog of another upstream is dropped, because the same plan id may be another plan here.
 */
const prepareTables = async (endpoint: string, tables: TableNames, path: string, upstream: string): Promise<void> => {
  const previous = readJsonFile(path, upstreamFile)?.upstream;
  if (previous !== undefined && previous !== upstream) await dropCacheTable(endpoint, tables);
  writeJsonFile(path, { upstream });
  await createTables(endpoint, tables);
};

const consumeQueues = ({ shutdown }: Start, { client, url }: LocalQueues, invoke: Invoke): void => {
  for (const [queueName, { consumer: functionName, batchSize, concurrencyMax }] of Object.entries(queues)) {
    const mapping = { client, queueName, queueUrl: url(queueName), batchSize, concurrencyMax, functionName, invoke };
    shutdown.add("inbound", consumeQueue(mapping).stop);
  }
};

const consumeStreams = async (
  { shutdown }: Start,
  dataDir: DataDir,
  { endpoint }: LocalDynamoDb,
  tables: TableNames,
  invoke: Invoke,
): Promise<void> => {
  const consumers = consumedStreams.map(([name, checkpoint, pollMs]) => {
    const { consumer: functionName, ...mapping } = streamConsumers[name];
    const table = tables[mapping.table];
    return consumeStream({
      ...{ ...mapping, endpoint, table, functionName, invoke, pollMs },
      checkpointPath: dataDir.file(checkpoint),
    });
  });
  for (const { stop } of consumers) shutdown.add("inbound", stop);
  await Promise.all(consumers.map(({ ready }) => ready));
};

const startSchedules = async (
  { settings: { sender }, shutdown, onProgress }: Start,
  names: readonly ScheduledFunction[],
  invoke: Invoke,
): Promise<void> => {
  const start = (name: ScheduledFunction) => {
    if (name !== "send-queued-orders" || sender === undefined) return startSchedule(name, invoke);
    return startSchedule(name, (...call) => invoke(...call, sender.timeoutMs), sender.everyMs);
  };
  const schedules = await Promise.all(names.map(start));
  for (const schedule of schedules) shutdown.add("inbound", schedule.stop);
  if (!schedules.every(({ firstRun }) => firstRun)) {
    onProgress("The catalog could not be fetched; the service retries every minute");
  }
};

const sampleFile = z.object({ account_id: z.string(), unfinished: z.optional(z.literal(true)) });

const ensureSampleBooks = async (
  { onProgress }: Start,
  dataDir: DataDir,
  environment: FunctionEnvironment,
): Promise<void> => {
  const path = dataDir.file("sampleBooks");
  const known = readJsonFile(path, sampleFile);
  if (known === undefined) onProgress("Writing the sample books");
  if (known?.unfinished) {
    onProgress(
      "The sample books are incomplete: their writing was interrupted. npm start -- --fresh writes them again",
    );
    return;
  }
  const { AUDIT_TABLE: auditTable, REFERENCE_KEY_SECRET_ID, UPSTREAM_COSTS, QUEUE_MINUTES, TIME_ZONE } = environment;
  const account_id = await withAccounts(environment, (accounts, secrets) => {
    const ledger = { db: accounts.db, table: accounts.ledgerTable, auditTable, clock: systemClock };
    return makeSampleBooks(
      {
        accounts,
        ledger,
        costs: parseUpstreamCosts(UPSTREAM_COSTS),
        queueMinutes: Number(QUEUE_MINUTES),
        timeZone: TIME_ZONE,
        keyedHashes: loadKeyedHashes(secret(secrets, REFERENCE_KEY_SECRET_ID), checkReferenceKey(ledger, "ignore")),
      },
      known?.account_id,
      (created) => writeJsonFile(path, { account_id: created, unfinished: true }),
    );
  });
  writeJsonFile(path, { account_id });
};

/** Works with the accounts as a function does. */
const withAccounts = async <Result>(
  { ACCESS_TABLE, LEDGER_TABLE, CHECKSUM_KEY_SECRET_ID }: FunctionEnvironment,
  work: (accounts: AccountStore, secrets: ReturnType<typeof openSecretsManager>) => Promise<Result>,
): Promise<Result> => {
  const [db, secrets] = [openDynamoDb(), openSecretsManager()];
  const checksumKey = secret(secrets, CHECKSUM_KEY_SECRET_ID);
  try {
    return await work({ db, accessTable: ACCESS_TABLE, ledgerTable: LEDGER_TABLE, checksumKey }, secrets);
  } finally {
    db.destroy();
    secrets.destroy();
  }
};

const ensureDemoAccount = (dataDir: DataDir, environment: FunctionEnvironment): Promise<DemoAccount> =>
  withAccounts(environment, (accounts, secrets) => {
    const webhookSealingKey = secret(secrets, environment.WEBHOOK_KEY_SECRET_ID);
    const endpoints = { accounts, webhookSealingKey, clock: systemClock };
    return openDemoAccount(accounts, endpoints, dataDir.file("demoAccount"));
  });
