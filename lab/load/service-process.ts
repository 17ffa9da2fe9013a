import { mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQS } from "@aws-sdk/client-sqs";
import { createAccount } from "../../shared/access/accounts.ts";
import { createKey } from "../../shared/access/keys.ts";
import { ALL_ENTITLEMENTS, permissionSchema } from "../../shared/contract/permission.ts";
import type { Mode } from "../../shared/contract/transaction.ts";
import { koboFromNaira } from "../../shared/contract/values/money.ts";
import { fundWallet } from "../../shared/ledger/ledger-entry.ts";
import { startDynamoDbProxy } from "../../test/builders/dynamodb/dynamodb-proxy.ts";
import { emulatorClientAt } from "../../test/builders/dynamodb/emulator-client.ts";
import type { StrictSettings } from "../../test/strict/settings.ts";
import type { AdminContext } from "../../tools/admin/context.ts";
import { startKillableService } from "../../tools/conformance/killable-service.ts";
import { startDynoxide } from "../../tools/local/dynoxide.ts";
import { externalDynamoDb } from "../../tools/local/emulator.ts";
import { localClient } from "../../tools/local/local-aws.ts";
import type { SimulatorOptions } from "../../tools/simulator/server.ts";
import { peakMemoryKb } from "../peak-memory.ts";

const NO_LIMIT = 1_000_000_000;
/** The last line of the start. */
export const STARTED = "Ctrl-C stops the service.\n";

/** An account with its keys. */
export type LoadAccount = { readonly accountId: string; readonly keys: readonly string[] };

type NewAccount = { readonly naira: number; readonly keys: number; readonly mode?: Mode };
export type ServiceProcess = Awaited<ReturnType<typeof startServiceProcess>>;

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
) => {
  const { dynamodbEndpoint, stallMs, strict, countsCalls, script } = options;
  const { ordersPerWindow = NO_LIMIT, ...simulated } = options.simulator ?? {};
  const folder = mkdtempSync(join(tmpdir(), "load-test-"));
  const dynamodb = dynamodbEndpoint
    ? externalDynamoDb(dynamodbEndpoint)
    : await startDynoxide({ pidFile: join(folder, "dynoxide.pid"), logFile: join(folder, "dynoxide.log") });
  const proxy = strict || countsCalls ? await startDynamoDbProxy(dynamodb.endpoint) : undefined;
  const logPaths: string[] = [];
  const service = await startKillableService(
    folder,
    {
      ...{ limits: { vtu: ordersPerWindow, identity: NO_LIMIT, catalog: NO_LIMIT }, delayedOutcomeMs: 1_000 },
      ...simulated,
      ...(stallMs && { stallMs }),
    },
    {
      ...(script && { script }),
      env: { REQUESTS_PER_SECOND_MAX: String(NO_LIMIT), DYNAMODB_ENDPOINT: (proxy ?? dynamodb).endpoint },
      openLog: () => {
        const path = join(folder, `log-${logPaths.length}`);
        logPaths.push(path);
        return openSync(path, "w");
      },
    },
  );
  const { baseUrl, simulator } = service;
  const admin = withoutTimeouts(await service.admin(), dynamodb.endpoint);

  return {
    baseUrl,
    /** In this process, so that a run can control and inspect it. */
    simulator,
    /** The admin commands' access to tables, queues and secrets. It bypasses the strict layer. */
    admin,
    /** What stands between the service and its tables, if anything does. */
    proxy,
    /** The strict layer in front of the service's tables, if any. */
    strict: strict && proxy?.beStrict(strict.settings, strict.seed),
    newAccount: async ({ naira, keys, mode = "live" }: NewAccount): Promise<LoadAccount> => {
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
    /** Kills the service as `kill -9` does, and starts it again at the same address with the same data. */
    killAndRestart: async (): Promise<void> => {
      await service.kill();
      await service.start();
    },
    /** The lines of standard output and error since each start. */
    logLines: (): readonly string[] =>
      logPaths
        .flatMap((path) => (readFileSync(path, "utf8").split(STARTED)[1] ?? "").split("\n"))
        .filter((line) => line !== ""),
    peakMemoryMb: (): number => Math.round(peakMemoryKb(service.pid()) / 1_024),
    stop: async (): Promise<void> => {
      admin.close();
      await service.stop();
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
