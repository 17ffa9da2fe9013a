import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { createAccount } from "../../../shared/access/accounts.ts";
import { createKey } from "../../../shared/access/keys.ts";
import { ALL_ENTITLEMENTS } from "../../../shared/contract/permission.ts";
import { HOUR_MS, MINUTE_MS } from "../../../shared/contract/values/durations.ts";
import { koboFromNaira } from "../../../shared/contract/values/money.ts";
import type { AuditedLedger } from "../../../shared/ledger/ledger.ts";
import { fundWallet } from "../../../shared/ledger/ledger-entry.ts";
import { walletPk } from "../../../shared/ledger/schema.ts";
import type { WithSdk } from "../../../shared/platform/aws/sdk.ts";
import { openDynamoDb, openSecretsManager } from "../../../shared/platform/aws/sdk.ts";
import { secret } from "../../../shared/platform/secrets.ts";
import { isoTime, systemClock } from "../../../shared/platform/time.ts";
import { runAdmin } from "../../../tools/admin/run.ts";
import { onTerminal, type Terminal } from "../../../tools/admin/terminal.ts";
import { type RunningService, type ServiceSettings, startService } from "../../../tools/local/service.ts";
import { localTableNames } from "../../../tools/local/tables.ts";

/** The result of one run of the operator's command line. */
export type AdminRun = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

export type OperatedService = RunningService & {
  readonly folder: string;
  readonly serviceFile: string;
  /** Runs the operator's command line, in this process. */
  readonly admin: (args: readonly string[], stdin?: string) => Promise<AdminRun>;
  /** The same with `--json`; throws unless the exit code is 0. */
  readonly adminJson: (args: readonly string[], stdin?: string) => Promise<unknown>;
  /** Direct access to the ledger table. */
  readonly ledger: AuditedLedger & WithSdk;
  /** A caller that may buy: loopback allowed, 5,000 NGN, a live key. */
  readonly newApp: (name?: string) => Promise<TestApp>;
  readonly post: (key: string, path: string, body: unknown) => Promise<Response>;
  /** Orders 500 NGN of airtime; the phone number decides the outcome. */
  readonly buy: (key: string, phoneNumber: string, callerReference?: string) => Promise<Bought>;
  /** Verifies a NIN; resolves with the response. */
  readonly verifyNin: (key: string, fields: Readonly<Record<string, string>>) => Promise<Response>;
  /** Calls the simulator's control interface: `events`, `catalog` or `wallet`. */
  readonly controlSimulator: (method: "POST" | "PUT" | "DELETE", path: string, body?: unknown) => Promise<Response>;
  /** From now on the upstream refuses orders by its rate limit, also those that the scheduled function sends. */
  readonly refuseByLimit: () => Promise<void>;
  /** Changes a balance without a ledger entry, as a bug would. */
  readonly changeBalance: (account: string, kobo: number) => Promise<void>;
};

export type TestApp = { readonly account: string; readonly key: string; readonly keyId: string };
export type Bought = { readonly status: number; readonly reference: string };

/** The bank's reference of the transfer that funded a test's account. */
export const bankReference = (accountId: string): string => `bank-${accountId}`;

export const ADMIN = resolve("tools/admin/main.ts");

/** A service in a folder of its own, with a SERVICE_FILE for the command line. */
export const startOperatedService = async (
  settings: Pick<ServiceSettings, "sampleBooks" | "awsCalls"> = {},
): Promise<OperatedService> => {
  const folder = mkdtempSync(join(tmpdir(), "admin-test-"));
  const serviceFile = join(folder, "service.json");
  const service = await startService({ ...settings, dataDir: join(folder, "data"), serviceFile });
  const db = openDynamoDb();
  const ledger: AuditedLedger & WithSdk = {
    db,
    table: localTableNames.ledger,
    auditTable: localTableNames.audit,
    clock: systemClock,
  };
  const admin: OperatedService["admin"] = (args, stdin) => runCommand(args, { serviceFile, stdin });
  const controlSimulator: OperatedService["controlSimulator"] = (method, path, body) =>
    fetch(service.details.upstream.base_url.replace(/\/v1$/, `/_simulator/${path}`), {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const post: OperatedService["post"] = (key, path, body) =>
    fetch(`${service.details.base_url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  return {
    ...service,
    folder,
    serviceFile,
    admin,
    adminJson: async (args, stdin) => {
      const { code, stdout, stderr } = await admin([...args, "--json"], stdin);
      if (code !== 0) throw new Error(`admin ${args.join(" ")} ended with ${code}: ${stdout}${stderr}`);
      return JSON.parse(stdout);
    },
    ledger,
    newApp: async (name = "checkout") => {
      const store = {
        db,
        accessTable: localTableNames.access,
        ledgerTable: localTableNames.ledger,
        checksumKey: secret(openSecretsManager(), "checksum-key"),
      };
      const { account_id: account } = await createAccount(store, {
        name,
        whitelist: ["127.0.0.1"],
        entitlements: ALL_ENTITLEMENTS,
      });
      await fundWallet(ledger, {
        accountId: account,
        fundingId: bankReference(account),
        amountKobo: koboFromNaira(5_000),
      });
      return { account, ...(await createKey(store, account, { mode: "live" })) };
    },
    post,
    buy: async (key, phoneNumber, reference) => {
      const order = { network: "mtn", amount: 500, phone_number: phoneNumber, reference };
      const response = await post(key, "/vtu/airtime/purchase", order);
      return { status: response.status, reference: response.headers.get("x-transaction-reference") ?? "" };
    },
    verifyNin: (key, fields) => post(key, "/identity/nin/verify", { is_consent: true, ...fields }),
    controlSimulator,
    refuseByLimit: async () => {
      const fault = { kind: "rate_limited", path: "/vtu/", method: "POST", retry_after_s: 600 };
      await controlSimulator("PUT", "faults", { faults: [fault] });
    },
    changeBalance: async (account, kobo) => {
      await db.update({
        TableName: localTableNames.ledger,
        Key: { pk: walletPk(account) },
        UpdateExpression: "SET balance_kobo = balance_kobo + :kobo",
        ExpressionAttributeValues: { ":kobo": kobo },
      });
    },
    stop: async () => {
      db.destroy();
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** What is typed: a generator is run once it is read. */
export type Typed = string | AsyncIterable<string>;

/** Runs the operator's command line in this process, where it is loaded once. */
export const runCommand = async (
  args: readonly string[],
  {
    serviceFile,
    stdin = "",
    isTTY = false,
  }: { readonly serviceFile: string; readonly stdin?: Typed | undefined; readonly isTTY?: boolean },
): Promise<AdminRun> => {
  const { terminal, output } = testTerminal({ ...process.env, SERVICE_FILE: serviceFile }, stdin, isTTY);
  const code = await onTerminal(terminal, () => runAdmin(args));
  return { code, ...(await output()) };
};

/** A terminal that keeps what is written to it. */
export const testTerminal = (env: Terminal["env"] = process.env, stdin: Typed = "", isTTY = false) => {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const texts = Promise.all([text(stdout), text(stderr)]);
  const terminal: Terminal = {
    stdin: Object.assign(Readable.from(typeof stdin === "string" ? [stdin] : stdin), { isTTY }),
    stdout,
    stderr,
    env,
  };
  return {
    terminal,
    /** Ends it. */
    output: async () => {
      stdout.end();
      stderr.end();
      const [printed, messages] = await texts;
      return { stdout: printed, stderr: messages };
    },
  };
};

/** Runs a program in a process of its own. */
export const runProgram = async (
  program: string,
  args: readonly string[],
  options: {
    readonly serviceFile: string;
    readonly stdin?: string;
    readonly cwd?: string;
    readonly env?: Readonly<Record<string, string>>;
  },
): Promise<AdminRun> => {
  const { serviceFile, stdin = "", cwd = process.cwd() } = options;
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...options.env, SERVICE_FILE: serviceFile },
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (part) => (output.stdout += part));
  child.stderr.on("data", (part) => (output.stderr += part));
  // A program that reads no input may exit before it gets any.
  child.stdin.on("error", () => {});
  child.stdin.end(stdin);
  const [code] = await once(child, "close");
  return { code: typeof code === "number" ? code : null, ...output };
};

/** Backdates an open transaction, by default by a minute, so that its request is over. */
export const ageTransaction = async ({ ledger }: OperatedService, reference: string, ageMs = 60_000): Promise<void> => {
  await ledger.db.update({
    TableName: ledger.table,
    Key: { pk: `transaction#${reference.split("_")[1]}` },
    UpdateExpression: "SET created_at = :then, listed_at = :then",
    ExpressionAttributeValues: { ":then": isoTime(Date.now() - ageMs) },
  });
};

/** Dates what is booked in a restricted wallet, so that its account can be closed. */
export const ageWallet = async ({ ledger }: OperatedService, accountId: string): Promise<void> => {
  await ledger.db.update({
    TableName: ledger.table,
    Key: { pk: walletPk(accountId) },
    UpdateExpression: "SET updated_at = :then, restricted_at = :then",
    ExpressionAttributeValues: { ":then": "2026-01-01T00:00:00.000Z" },
  });
};

/** Makes an order three minutes older, and a check with its consent an hour: then its person is found by the indexes. */
export const ageForSubjects = async (service: OperatedService, reference: string): Promise<void> => {
  const { db, table } = service.ledger;
  const Key = { pk: `consent#transaction#${reference.split("_")[1]}` };
  const isCheck = (await db.get({ TableName: table, Key })).Item !== undefined;
  const ageMs = isCheck ? HOUR_MS : 3 * MINUTE_MS;
  await ageTransaction(service, reference, ageMs);
  if (!isCheck) return;
  await db.update({
    TableName: table,
    Key,
    UpdateExpression: "SET created_at = :then",
    ExpressionAttributeValues: { ":then": isoTime(Date.now() - ageMs) },
  });
};
