import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQS } from "@aws-sdk/client-sqs";
import * as z from "zod";
import { createAccount, createKey } from "../../shared/access/accounts.ts";
import { koboFromNaira } from "../../shared/contract/money.ts";
import { ALL_ENTITLEMENTS, permissionSchema } from "../../shared/contract/permission.ts";
import type { Mode } from "../../shared/contract/transaction.ts";
import { fundWallet } from "../../shared/ledger/ledger-entry.ts";
import { type DynamoDbProxy, startDynamoDbProxy } from "../../test/builders/dynamodb-proxy.ts";
import { emulatorClientAt } from "../../test/builders/emulator-client.ts";
import { until } from "../../test/builders/until.ts";
import type { StrictDynamoDb } from "../../test/strict/dynamodb.ts";
import type { StrictSettings } from "../../test/strict/settings.ts";
import { type AdminContext, openAdminContext } from "../../tools/admin/context.ts";
import { externalDynamoDb, startDynoxide } from "../../tools/local/dynamodb.ts";
import { readJsonFile } from "../../tools/local/json-file.ts";
import { localClient, setEnvironment } from "../../tools/local/local-aws.ts";
import { type Simulator, type SimulatorOptions, startSimulator } from "../../tools/simulator/server.ts";
import { peakMemoryKb } from "../peak-memory.ts";

const NO_LIMIT = 1_000_000_000;
/** The last line of the start. */
export const STARTED = "Ctrl-C stops the service.\n";

const serviceFile = z.object({
  base_url: z.string(),
  upstream: z.object({ webhook_url: z.string(), webhook_secret: z.string() }),
});

/** An account with its keys. */
export type LoadAccount = { readonly accountId: string; readonly keys: readonly string[] };

export type ServiceProcess = {
  readonly baseUrl: string;
  /** In this process, so that a run can control and inspect it. */
  readonly simulator: Simulator;
  /** The admin commands' access to tables, queues and secrets. It bypasses the strict layer. */
  readonly admin: AdminContext;
  /** What stands between the service and its tables, if anything does. */
  readonly proxy: DynamoDbProxy | undefined;
  /** The strict layer in front of the service's tables, if any. */
  readonly strict: StrictDynamoDb | undefined;
  readonly newAccount: (options: {
    readonly naira: number;
    readonly keys: number;
    readonly mode?: Mode;
  }) => Promise<LoadAccount>;
  /** Kills the service as `kill -9` does, and starts it again at the same address with the same data. */
  readonly killAndRestart: () => Promise<void>;
  /** The lines of standard output and error since each start. */
  readonly logLines: () => readonly string[];
  readonly peakMemoryMb: () => number;
  readonly stop: () => Promise<void>;
};

/**
 * Starts `npm start` in a process of its own, so that callers and service do not share an event loop. The upstream is
 * simulated in this process. The tables are in memory, because the speed of the disk is not measured.
 */
export const startServiceProcess = async (
  options: {
    readonly dynamodbEndpoint?: string;
    readonly stallMs?: number;
    /** What is run instead of `npm start`. */
    readonly script?: string;
    /** The simulator has no limits, unless they are given. */
    readonly simulator?: Pick<SimulatorOptions, "windowMs"> & { readonly ordersPerWindow: number };
    /** Counts the service's calls of its tables. */
    readonly countsCalls?: boolean;
    /** The strict layer's behaviour once the service has started. */
    readonly strict?: { readonly settings: StrictSettings; readonly seed: number };
  } = {},
): Promise<ServiceProcess> => {
  const { dynamodbEndpoint, stallMs, strict, countsCalls, script = "tools/local/start.ts" } = options;
  const { ordersPerWindow = NO_LIMIT, ...simulated } = options.simulator ?? {};
  const folder = mkdtempSync(join(tmpdir(), "load-test-"));
  const serviceFilePath = join(folder, "service.json");
  const liveKey = `live_${randomBytes(32).toString("base64url")}`;
  const limits = { vtu: ordersPerWindow, identity: NO_LIMIT, catalog: NO_LIMIT };
  const delayedOutcomeMs = 1_000;
  const simulator = await startSimulator({
    ...{ liveKey, limits, delayedOutcomeMs, ...simulated },
    ...(stallMs && { stallMs }),
  });

  const dynamodb = dynamodbEndpoint
    ? externalDynamoDb(dynamodbEndpoint)
    : await startDynoxide({ pidFile: join(folder, "dynoxide.pid"), logFile: join(folder, "dynoxide.log") });
  const proxy = strict || countsCalls ? await startDynamoDbProxy(dynamodb.endpoint) : undefined;
  const logPaths: string[] = [];
  const start = async (port: string) => {
    const logPath = join(folder, `log-${logPaths.length}`);
    logPaths.push(logPath);
    const log = openSync(logPath, "w");
    const child = spawn(process.execPath, [script], {
      stdio: ["ignore", log, log],
      env: {
        ...process.env,
        PORT: port,
        DATA_DIR: join(folder, "data"),
        SERVICE_FILE: serviceFilePath,
        UPSTREAM_BASE_URL: simulator.baseUrl,
        UPSTREAM_LIVE_KEY: liveKey,
        UPSTREAM_PROFILE: JSON.stringify({ reference: "all" }),
        REQUESTS_PER_SECOND_MAX: String(NO_LIMIT),
        DYNAMODB_ENDPOINT: (proxy ?? dynamodb).endpoint,
      },
    });
    closeSync(log);
    const started = { child, ended: once(child, "exit") };
    await until("the service has started", () => readFileSync(logPath, "utf8").includes(STARTED));
    return started;
  };
  let running = await start("0");
  const killAtExit = (): void => void running.child.kill("SIGKILL");
  process.once("exit", killAtExit);
  const details = readJsonFile(serviceFilePath, serviceFile);
  if (details === undefined) throw new Error("The service ended while it started");
  simulator.state.webhook = { url: details.upstream.webhook_url, secret: details.upstream.webhook_secret };

  const restore = setEnvironment({ SERVICE_FILE: serviceFilePath });
  const admin = withoutTimeouts(await openAdminContext({ by: "load test" }), dynamodb.endpoint);
  restore();

  return {
    baseUrl: details.base_url,
    simulator,
    admin,
    proxy,
    strict: strict && proxy?.beStrict(strict.settings, strict.seed),
    newAccount: async ({ naira, keys, mode = "live" }) => {
      const { account_id: accountId } = await createAccount(admin.accounts, {
        name: "load",
        whitelist: ["127.0.0.1"],
        entitlements: ALL_ENTITLEMENTS,
      });
      const amountKobo = koboFromNaira(naira);
      if (naira > 0) await fundWallet(admin.ledger, { accountId, fundingId: `first-${accountId}`, amountKobo });
      const made: string[] = [];
      while (made.length < keys) {
        const options = { mode, permissions: permissionSchema.options };
        made.push((await createKey(admin.accounts, accountId, options)).key);
      }
      return { accountId, keys: made };
    },
    killAndRestart: async () => {
      running.child.kill("SIGKILL");
      await running.ended;
      running = await start(new URL(details.base_url).port);
    },
    logLines: () =>
      logPaths
        .flatMap((path) => (readFileSync(path, "utf8").split(STARTED)[1] ?? "").split("\n"))
        .filter((line) => line !== ""),
    peakMemoryMb: () => Math.round(peakMemoryKb(running.child.pid) / 1_024),
    stop: async () => {
      admin.close();
      running.child.kill("SIGTERM");
      await running.ended;
      process.off("exit", killAtExit);
      await simulator.stop();
      await proxy?.stop();
      await dynamodb.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** Replaces the clients, which time out after 2 s, because a check of the run must not fail under load. */
const withoutTimeouts = (admin: AdminContext, dynamodbEndpoint: string): AdminContext => {
  const db = emulatorClientAt(dynamodbEndpoint);
  const accounts = { ...admin.accounts, db };
  const sqs = new SQS({ ...localClient(process.env.AWS_ENDPOINT_URL_SQS ?? ""), useQueueUrlAsEndpoint: false });
  return {
    ...admin,
    ledger: { ...admin.ledger, db },
    accounts,
    endpoints: { ...admin.endpoints, accounts },
    sqs,
    close: () => {
      admin.close();
      db.destroy();
      sqs.destroy();
    },
  };
};
