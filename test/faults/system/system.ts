import { createHash, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import * as z from "#zod";
import type { TableName } from "../../../functions/function-spec.ts";
import type { ScheduledFunction } from "../../../infra/functions.ts";
import { queues } from "../../../infra/queues.ts";
import type { AccountStore } from "../../../shared/access/account-store.ts";
import { type Route, routeKey } from "../../../shared/contract/route.ts";
import { routes } from "../../../shared/contract/routes.ts";
import type { AuditedLedger } from "../../../shared/ledger/ledger.ts";
import { openDynamoDb, openSecretsManager, openSqs } from "../../../shared/platform/aws/sdk.ts";
import type { FunctionEnvironment } from "../../../shared/platform/env.ts";
import { type KeyedHashes, loadKeyedHashes } from "../../../shared/platform/keyed-hashes.ts";
import { secret } from "../../../shared/platform/secrets.ts";
import { systemClock } from "../../../shared/platform/time.ts";
import { signatureOf } from "../../../shared/upstream-events/upstream-signature.ts";
import { type DeliveryQueue, deliveryQueue } from "../../../shared/webhooks/delivery-queue.ts";
import type { EndpointStore } from "../../../shared/webhooks/endpoint.ts";
import { startDynoxide } from "../../../tools/local/dynoxide.ts";
import {
  functionEnvironment as localFunctionEnvironment,
  simulatorProfile,
} from "../../../tools/local/function-environment.ts";
import { localAwsEnvironment, setEnvironment } from "../../../tools/local/local-aws.ts";
import { startQueues } from "../../../tools/local/queues.ts";
import { loadSecrets, startSecretsManager } from "../../../tools/local/secrets.ts";
import type { AdminDetails } from "../../../tools/local/service-file.ts";
import type { Settings } from "../../../tools/local/settings.ts";
import { type Simulator, startSimulator } from "../../../tools/simulator/server.ts";
import { SIMULATOR_SIGNATURE, sentEvent } from "../../../tools/simulator/webhooks.ts";
import { anApiEvent } from "../../builders/aws/api-event.ts";
import { withDirectCalls } from "../../builders/aws/direct-calls.ts";
import { emulatorClientAt } from "../../builders/dynamodb/emulator-client.ts";
import { addStream, freshTables } from "../../builders/dynamodb/tables.ts";
import { upstreamKind as chosenUpstream, type UpstreamKind } from "../../builders/upstream/upstream-kind.ts";
import { chanceOf } from "../../strict/chance.ts";
import type { StrictSettings } from "../../strict/settings.ts";
import { DYNAMODB_STREAMS, forwardTo } from "../../strict/wire.ts";
import { now, openClock, outside, processes } from "./clock.ts";
import type { Effect, Ending, FaultPlan } from "./effects.ts";
import { type EventSources, openEventSources, type Sample } from "./event-sources.ts";
import { type Fleet, type Invocation, openFleet } from "./fleet.ts";
import { createInjector, type Injector } from "./injector.ts";
import { openNetwork } from "./network.ts";
import { newProcess, workIn } from "./process.ts";
import { openRandom } from "./random.ts";
import { forgetRealities } from "./realities.ts";
import { type StrictAws, strictAws } from "./strict-aws.ts";

/** In milliseconds: from a process to whatever it calls, and as long back. */
const LATENCY_MS = { min: 1, max: 8 };
/** The upstream never answers its slow orders, and settles delayed ones only when a test says so. */
const simulatorTiming = { stallMs: 0, delayedOutcomeMs: 2_000_000_000 };
/** The most that the service reads as a number of requests. */
const UNLIMITED = { vtu: 999_999, identity: 999_999, catalog: 999_999 };

const answerSchema = z.object({
  statusCode: z.int(),
  headers: z.record(z.string(), z.string()),
  body: z.pipe(
    z.string(),
    z.transform((text) => z.object({ data: z.optional(z.unknown()) }).parse(JSON.parse(text))),
  ),
});
export type Answer = z.output<typeof answerSchema>;

type UpstreamOrder = Simulator["state"]["purchases"][number];

/** What a person sees of the system from outside, with the simulated times: what alarms are made from. */
export type Observed = {
  /** Every line of log: events, and metrics in CloudWatch's embedded format. */
  readonly lines: { readonly atMs: number; readonly by: string; readonly line: string }[];
  readonly invocations: Invocation[];
  /** What the gateway answered; a function without an answer is a 500 of the platform. */
  readonly answers: { readonly atMs: number; readonly route: string; readonly status: number }[];
  /** Of queues and the stream, each minute in which a test polls them. */
  readonly samples: Sample[];
};

/**
 * The functions as they are deployed, with real stores around them. Nothing runs by itself: a test runs each event
 * source and each schedule, and advances the clock.
 */
export type System = {
  readonly upstream: Simulator["state"];
  /** Which orders carry our reference. */
  readonly references: UpstreamKind["references"];
  readonly db: DynamoDBDocument;
  readonly ledger: AuditedLedger;
  readonly accounts: AccountStore;
  readonly endpoints: EndpointStore;
  readonly keyedHashes: KeyedHashes;
  readonly tables: readonly (readonly [TableName, string])[];
  readonly cacheTable: string;
  readonly observed: Observed;
  /** The faults of every run from now on. */
  plan: FaultPlan;
  /** The faults of every function from now on, where the plan has none. */
  weather: FaultPlan;
  readonly fleet: Fleet;
  readonly landLateWrites: Injector["landLateWrites"];
  /** The strict AWS behind our code's calls; undefined is the emulators as they are. */
  readonly strict: () => StrictAws | undefined;
  /** What happened so far, in short: the same for the same seed and the same work. */
  readonly trace: () => string;
  /**
   * Replaces the strict AWS, and begins its seed and that of all latencies. Throws if the former one met a call that it
   * does not simulate.
   */
  readonly setStrict: (settings: StrictSettings | undefined, seed: number) => void;
  /** Runs some of our code, such as an operator's command. */
  readonly run: <Result>(work: () => Promise<Result>) => Promise<Ending<Result>>;
  /**
   * Sends a caller's request through the gateway; undefined where the service did not answer, or said only that the
   * outcome is unknown, as the platform does.
   */
  readonly call: (route: Route, key: string, body: unknown, path?: string) => Promise<Answer | undefined>;
  /** Sends the upstream's event about an order; false where the upstream must send it again. */
  readonly sendEvent: (order: UpstreamOrder, status: "success" | "failed") => Promise<boolean>;
  readonly runSchedule: (schedule: ScheduledFunction) => Promise<void>;
  readonly eventSources: EventSources;
  readonly deliveryQueue: DeliveryQueue;
  /**
   * Starts them again with other settings, as a deployment does. `ledger`, `accounts` and `eventSources` follow the
   * tables.
   */
  readonly deploy: (changes: Partial<FunctionEnvironment>) => Promise<void>;
  /** What the operator's command line needs to find this service. */
  readonly adminDetails: () => AdminDetails;
  readonly stop: () => Promise<void>;
};

/** By which path the functions call AWS (decision 0025). */
export type AwsCalls = Settings["awsCalls"];

const { log } = console;
const START_MS = Date.UTC(2026, 10, 22, 9);

/** With the same seed, the same work has the same course. `startMs`: the time at which the system's clock begins. */
export const startSystem = async ({
  seed = 1,
  startMs = START_MS,
  upstreamKind = chosenUpstream,
  awsCalls = "short",
}: {
  readonly seed?: number;
  readonly startMs?: number;
  readonly upstreamKind?: UpstreamKind;
  readonly awsCalls?: AwsCalls;
} = {}): Promise<System> => {
  const restoreRandom = openRandom(seed);
  const restoreClock = openClock(startMs);
  forgetRealities();
  const folder = mkdtempSync(join(tmpdir(), "system-"));
  const secrets = loadSecrets(join(folder, "secrets.json"));
  // Not shared: the more records the emulator's streams hold, deleted tables included, the longer its writes take.
  const { endpoint: dynamodb, stop: stopDynamodb } = await startDynoxide({
    pidFile: join(folder, "dynoxide.pid"),
    logFile: join(folder, "dynoxide.log"),
  });
  const direct = emulatorClientAt(dynamodb);
  const { accessTable, ledgerTable, auditTable, cacheTable } = await freshTables(direct);
  for (const table of [ledgerTable, auditTable]) await addStream(direct, table);
  const tablesWith = (access: string, ledger: string): System["tables"] => [
    ["access", access],
    ["ledger", ledger],
    ["audit", auditTable],
    ["cache", cacheTable],
  ];
  const simulator = await startSimulator({
    ...{ liveKey: secrets["upstream-key"], limits: UNLIMITED },
    ...{ ...simulatorTiming, ...upstreamKind },
  });
  const sqs = await startQueues(queues);
  const secretsManager = await startSecretsManager(secrets);

  let functionEnvironment: FunctionEnvironment = {
    ...localFunctionEnvironment({
      settings: { awsCalls },
      gatewayOrigin: "http://127.0.0.1:9",
      upstream: { baseUrl: simulator.baseUrl, profile: simulatorProfile(upstreamKind) },
      sqs,
    }),
    ACCESS_TABLE: accessTable,
    LEDGER_TABLE: ledgerTable,
    AUDIT_TABLE: auditTable,
    CACHE_TABLE: cacheTable,
    // Only the signature authenticates an event.
    UPSTREAM_WEBHOOK_IPS: "",
    SELLS: "yes",
  };
  const endpoints = { dynamodb, sqs: sqs.endpoint, secretsManager: secretsManager.endpoint };
  const restoreEnvironment = setEnvironment({ ...functionEnvironment, ...localAwsEnvironment(endpoints) });
  let strict: StrictAws | undefined;
  let chance = chanceOf(seed);
  const latencyMs = (): number => Math.ceil(chance.within(LATENCY_MS));
  const trace = createHash("sha256");
  const portOf = (url: string): number => Number(new URL(url).port);
  const places = new Map<number, Effect["place"]>([
    [portOf(dynamodb), "dynamodb"],
    [portOf(sqs.endpoint), "sqs"],
    [portOf(secretsManager.endpoint), "secrets"],
    [portOf(simulator.baseUrl), "upstream"],
  ]);
  const emulator = forwardTo(dynamodb);
  const streams = forwardTo(dynamodb, DYNAMODB_STREAMS);
  const injector = createInjector({
    toDynamoDb: (operation, body) => outside(() => emulator.forward(operation, body)),
    strict: () => strict,
    latencyMs,
    happens: (share) => chance.happens(share),
    note: ({ name }, effect, what) => void trace.update(`${now()} ${name} ${effect.place} ${effect.name} ${what}\n`),
  });
  const restoreNetwork = openNetwork(injector.serve, (port) => places.get(port) ?? "receiver", latencyMs);

  const observed: Observed = { lines: [], invocations: [], answers: [], samples: [] };
  console.log = (line: unknown) => {
    const { state, name: by = "test" } = processes.getStore() ?? {};
    // A killed process says nothing more.
    if (state !== "dead") observed.lines.push({ atMs: now(), by, line: String(line) });
  };

  // What a process reads takes its usual way.
  const db = withDirectCalls(openDynamoDb(), emulator.forward, () => processes.getStore() === undefined);
  const checksumKey = secret(openSecretsManager(), "checksum-key");
  const accounts: AccountStore = { db, accessTable, ledgerTable, checksumKey };
  const system: Pick<System, "plan" | "weather" | "run"> = {
    plan: () => undefined,
    weather: () => undefined,
    run: (work) =>
      workIn(
        newProcess("operator", (effect) => system.weather(effect)),
        system.plan,
        work,
      ),
  };
  const fleet = openFleet({
    plan: () => system.plan,
    weather: (effect) => system.weather(effect),
    chance: () => chance,
    note: (invocation) => void observed.invocations.push(invocation),
  });
  const endStrict = (): void => {
    const { notSimulated = [] } = strict?.dynamodb ?? {};
    strict?.close();
    strict = undefined;
    if (notSimulated.length > 0) throw new Error(`The strict layer does not simulate ${notSimulated.join("\n")}`);
  };
  const openSources = (ledgerTable: string): Promise<EventSources> =>
    openEventSources({
      ...{ sqs, ledgerTable, invoke: fleet.invoke, strict: () => strict },
      ...{ dynamodb: emulator.forward, streams: streams.forward },
      note: (sample) => void observed.samples.push(sample),
    });
  const { token, hmac } = { token: secrets["webhook-token"], hmac: secrets["upstream-webhook-hmac"] };

  const opened: System = Object.assign(system, {
    upstream: simulator.state,
    references: upstreamKind.references,
    db,
    ledger: { db, table: ledgerTable, auditTable, clock: systemClock },
    accounts,
    endpoints: { accounts, webhookSealingKey: secret(openSecretsManager(), "webhook-key"), clock: systemClock },
    keyedHashes: await loadKeyedHashes(secret(openSecretsManager(), "reference-key"))(),
    tables: tablesWith(accessTable, ledgerTable),
    cacheTable,
    fleet,
    landLateWrites: injector.landLateWrites,
    observed,
    strict: () => strict,
    trace: () => trace.copy().digest("hex"),
    setStrict: (settings: StrictSettings | undefined, seed: number) => {
      endStrict();
      chance = chanceOf(seed);
      if (settings !== undefined) strict = strictAws(dynamodb, settings, seed);
    },
    call: async (route: Route, key: string, body: unknown, path: string = route.path) => {
      const event = requestEvent(route, path, { authorization: `Bearer ${key}` }, body);
      const { data } = answerSchema.safeParse(await fleet.invoke(route.function, event).catch(() => undefined));
      observed.answers.push({ atMs: now(), route: routeKey(route), status: data?.statusCode ?? 500 });
      return data?.statusCode === 500 && !("x-error-code" in data.headers) ? undefined : data;
    },
    sendEvent: async (order: UpstreamOrder, status: "success" | "failed") => {
      const body = sentEvent(simulator.state, order, status);
      const signature = signatureOf(SIMULATOR_SIGNATURE, hmac, JSON.stringify(body));
      const event = {
        ...requestEvent(
          routes.receiveUpstreamEvent,
          routes.receiveUpstreamEvent.path,
          { [SIMULATOR_SIGNATURE.header]: signature },
          body,
        ),
        pathParameters: { token },
      };
      const answer = await fleet.invoke(routes.receiveUpstreamEvent.function, event).catch(() => undefined);
      return answerSchema.safeParse(answer).data?.statusCode === 200;
    },
    runSchedule: async (schedule: ScheduledFunction) => {
      await fleet.invoke(schedule, {}).catch(() => undefined);
    },
    eventSources: await openSources(ledgerTable),
    deliveryQueue: deliveryQueue(openSqs(), sqs.url("delivery")),
    deploy: async (changes: Partial<FunctionEnvironment>) => {
      functionEnvironment = { ...functionEnvironment, ...changes };
      setEnvironment(functionEnvironment);
      fleet.end();
      const { ACCESS_TABLE, LEDGER_TABLE } = functionEnvironment;
      const adopted = { db, accessTable: ACCESS_TABLE, ledgerTable: LEDGER_TABLE, checksumKey };
      const isOtherLedger = opened.ledger.table !== LEDGER_TABLE;
      Object.assign(opened, {
        ledger: { ...opened.ledger, table: LEDGER_TABLE },
        accounts: adopted,
        endpoints: { ...opened.endpoints, accounts: adopted },
        tables: tablesWith(ACCESS_TABLE, LEDGER_TABLE),
        ...(isOtherLedger && {
          eventSources: await openSources(LEDGER_TABLE),
        }),
      });
    },
    adminDetails: () => ({ base_url: "http://127.0.0.1:9/v1", environment: functionEnvironment, endpoints }),
    stop: async () => {
      console.log = log;
      restoreNetwork();
      restoreClock();
      restoreRandom();
      restoreEnvironment();
      injector.close();
      emulator.close();
      streams.close();
      await Promise.all([simulator.stop(), sqs.stop(), secretsManager.stop(), stopDynamodb()]);
      rmSync(folder, { recursive: true, force: true });
      endStrict();
    },
  });
  return opened;
};

const requestEvent = (
  route: Route,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: unknown,
): ReturnType<typeof anApiEvent> => {
  const parameters = /\{(\w+)\}/.exec(route.path)?.[1];
  const value = path.split("/").at(-1) ?? "";
  return anApiEvent({
    method: route.method,
    path,
    routeKey: routeKey(route),
    requestId: randomUUID(),
    headers: { ...headers, "content-type": "application/json" },
    ...(route.method === "POST" && { body: JSON.stringify(body) }),
    ...(parameters !== undefined && { pathParameters: { [parameters]: value } }),
  });
};
