import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import * as z from "#zod";
import { SettingsError } from "../../infra/settings-error.ts";
import { readTransaction } from "../../shared/ledger/find-transactions.ts";
import { settleTransaction } from "../../shared/ledger/settle-transaction.ts";
import { pkOfReference } from "../../shared/ledger/transaction.ts";
import { deadlineIn } from "../../shared/platform/deadline.ts";
import { parseIpRanges } from "../../shared/platform/ip-range.ts";
import { sleep, systemClock } from "../../shared/platform/time.ts";
import { systemResolve } from "../../shared/webhooks/address-guard.ts";
import { setEndpoint } from "../../shared/webhooks/endpoint.ts";
import { startDynoxide } from "../../tools/local/dynoxide.ts";
import { listenOnLoopback } from "../../tools/local/loopback.ts";
import { type RunningService, type ServiceSettings, startService } from "../../tools/local/service.ts";
import type { ServiceDetails } from "../../tools/local/service-file.ts";
import { localTableNames } from "../../tools/local/tables.ts";
import { startSimulator } from "../../tools/simulator/server.ts";
import { emulatorClient } from "../builders/dynamodb/tables.ts";
import { startTestDynamoDb } from "../builders/dynamodb/test-dynamodb.ts";
import { listeningSockets } from "../builders/network/listening-sockets.ts";
import { cleanups, temporaryFolder } from "../builders/run/cleanups.ts";
import { eventually } from "../builders/run/eventually.ts";
import { runCommand } from "../builders/service/admin.ts";
import { isInstalled } from "../builders/service/is-installed.ts";
import { type ProcessGroup, startGroup } from "../builders/service/process-group.ts";
import { standardHeaders, startReceiver } from "../builders/webhooks/receiver.ts";

/** The command lines of running processes that mention the folder. */
const processesUsing = (folder: string): string[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => (existsSync(`/proc/${pid}/cmdline`) ? readFileSync(`/proc/${pid}/cmdline`, "utf8") : ""))
    .filter((commandLine) => commandLine.includes(folder));

type Run = ProcessGroup & { readonly folder: string };
type RunOptions = {
  readonly program?: readonly string[];
  readonly folder?: string;
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
};

const start = ({ program = [process.execPath, "tools/local/start.ts"], ...options }: RunOptions = {}): Run => {
  const { folder = temporaryFolder(), args = [], env = {} } = options;
  const [command = "", ...first] = program;
  const files = { DATA_DIR: join(folder, "data"), SERVICE_FILE: join(folder, "s.json") };
  return {
    folder,
    ...startGroup(command, [...first, ...args], { env: { ...process.env, PORT: "0", ...files, ...env } }),
  };
};

const ready = async (run: Run): Promise<ServiceDetails> => {
  await run.untilPrinted("Ctrl-C");
  return JSON.parse(readFileSync(join(run.folder, "s.json"), "utf8"));
};

const stop = async (run: Run, signal: NodeJS.Signals): Promise<void> => {
  run.signal(signal);
  await run.exitCode;
};

/** In this process, where the modules are loaded already. */
const startHere = async (settings: ServiceSettings): Promise<RunningService> => {
  const service = await startService(settings);
  cleanups.push(service.stop);
  return service;
};

/** Runs the printed commands in a shell, as if pasted. */
const runPrintedCommands = async (run: Run) => {
  const answers: ReturnType<typeof JSON.parse>[] = [];
  for (const command of run.output().match(/^ {2}curl .*$/gm) ?? []) {
    const { stdout } = await promisify(execFile)("/bin/sh", ["-c", `${command} -sS`]);
    answers.push(JSON.parse(stdout));
  }
  return answers;
};

/** Sends an event without a signature, as an upstream does that signs none. */
const sendUnsigned = async ({ upstream }: ServiceDetails): Promise<number> => {
  const body = JSON.stringify({ event: "account.updated", data: {} });
  const headers = { "content-type": "application/json" };
  return (await fetch(upstream.webhook_url, { method: "POST", headers, body })).status;
};

test("npm start writes its URL and keys to the service file, its printed commands work when pasted, it listens on loopback only, no second one may use its data or its service file, and it exits with a message when its database is killed", async () => {
  const run = start();
  const details = await ready(run);
  expect(details).toEqual({
    base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1$/),
    console: {
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/console$/),
      issuer: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    },
    upstream: {
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1$/),
      webhook_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1\/webhooks\/upstream\/[\w-]{43}$/),
      webhook_secret: expect.stringMatching(/^[\w-]{43}$/),
    },
    accounts: [
      {
        account_id: expect.any(String),
        name: "demo",
        test_key: expect.stringMatching(/^test_/),
        live_key: expect.stringMatching(/^live_/),
        webhook_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
        balance: 100_000,
      },
    ],
  });
  const { base_url, accounts } = details;
  const first = await fetch(`${base_url}/vtu/data`, { headers: { authorization: `Bearer ${accounts[0]?.live_key}` } });
  expect(first.headers.get("x-ratelimit-remaining"), "the start used none of the key's requests").toBe("119");
  if (isInstalled("curl")) {
    const [catalog, purchase, wallet, help] = await runPrintedCommands(run);
    expect(catalog.data.data_plans.length).toBeGreaterThan(0);
    expect(purchase.data.transaction.status).toBe("success");
    expect(wallet.data.wallet.balance).toBe(100_000 - purchase.data.transaction.amount);
    const [inReadme] = /GET \/_simulator\/help/.exec(readFileSync("README.md", "utf8")) ?? [];
    expect(help.operations[0].route).toBe(inReadme?.replace("/_simulator", ""));
  }

  const sockets = listeningSockets(run.child.pid ?? 0);
  // The gateway, the identity provider, the simulator, dynoxide, SQS and Secrets Manager.
  expect(sockets).toHaveLength(6);
  expect(sockets.filter(({ isLoopback }) => !isLoopback)).toEqual([]);

  expect(await sendUnsigned(details)).toBe(401);

  const second = start({ folder: run.folder });
  expect(await second.exitCode).toBe(2);
  expect(second.output()).toMatch(
    /^Another npm start uses .*: stop it, or choose another DATA_DIR, SERVICE_FILE and PORT\.\n$/,
  );
  const sameFile = { dataDir: join(run.folder, "other"), serviceFile: join(run.folder, "s.json") };
  const sentence = `Another npm start uses ${sameFile.serviceFile}: stop it, or choose another SERVICE_FILE.`;
  await expect(startHere(sameFile)).rejects.toThrow(new SettingsError(sentence));
  expect(existsSync(sameFile.serviceFile)).toBe(true);

  process.kill(Number(readFileSync(join(run.folder, "data/dynamodb.pid"), "utf8")), "SIGKILL");
  expect(await run.exitCode).toBe(1);
  expect(run.output()).toContain("The local DynamoDB (dynoxide) has exited.");
  expect(processesUsing(run.folder)).toEqual([]);
});

test("the list of listening sockets includes those that are bound to all addresses, in IPv4 and IPv6", async () => {
  const before = new Set(listeningSockets(process.pid).map(({ address }) => address));
  for (const host of ["0.0.0.0", "::"]) {
    const server = createServer().listen(0, host);
    await once(server, "listening");
    cleanups.push(() => server.close());
  }
  const found = listeningSockets(process.pid).filter(({ address }) => !before.has(address));
  expect(found.map(({ isLoopback }) => isLoopback)).toEqual([false, false]);
});

const post = ({ base_url, accounts }: ServiceDetails, path: string, order: object): Promise<Response> =>
  fetch(`${base_url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${accounts[0]?.live_key}`, "content-type": "application/json" },
    body: JSON.stringify(order),
  });

const buyAirtime = (details: ServiceDetails, phone_number: string): Promise<Response> =>
  post(details, "/vtu/airtime/purchase", { network: "mtn", phone_number, amount: 100 });

/** Buys a bundle of 500 NGN under one reference. */
const buyOnce = async (details: ServiceDetails) => {
  const order = { network_id: 1, plan_id: 101, phone_number: "08031234567", reference: "once" };
  const response = await post(details, "/vtu/data/purchase", order);
  return { replayed: response.headers.get("idempotent-replayed"), body: await response.text() };
};

test("after SIGKILL a restart has the same keys and balance, replays the same reference and delivers a webhook again whose order ended while nothing ran; SIGTERM, and SIGINT soon after it, then stop all processes without waiting for a purchase of 20 s", async () => {
  const folder = temporaryFolder();
  let isAnswering = false;
  const receiver = await startReceiver((response) => void (isAnswering && response.end("ok")));
  cleanups.push(receiver.stop);
  const stopped = await startHere({ dataDir: join(folder, "data") });
  const { accounts } = stopped.details;
  const open = await buyAirtime(stopped.details, "08000000004");
  const reference = open.headers.get("x-transaction-reference") ?? "";
  await stopped.stop();
  await settleWhileStopped(folder, accounts[0]?.account_id ?? "", reference, receiver.url);
  const webhooks = () => receiver.received.filter(({ body }) => body.includes(reference));

  const first = start({ folder });
  const before = await ready(first);
  const purchase = await buyOnce(before);
  await eventually(() => expect(webhooks()).toHaveLength(1));
  await stop(first, "SIGKILL");
  await eventually(() => expect(processesUsing(folder)).toEqual([]));

  isAnswering = true;
  const second = start({ folder });
  const after = await ready(second);
  expect(after.accounts[0]).toEqual({ ...accounts[0], balance: 99_400 });
  expect(await buyOnce(after)).toEqual({ replayed: "true", body: purchase.body });
  expect(statSync(join(folder, "data/secrets.json")).mode & 0o777).toBe(0o600);
  await eventually(() => expect(webhooks()).toHaveLength(2));
  const [one, other] = webhooks();
  expect([other?.headers.id, other?.body]).toEqual([one?.headers.id, one?.body]);
  const verified = other && new Webhook(accounts[0]?.webhook_secret ?? "").verify(other.body, standardHeaders(other));
  expect(verified).toMatchObject({ data: { reference, status: "success" } });

  const unanswered = buyAirtime(after, "08000000007").catch(() => "cut");
  await sleep(300);
  expect(processesUsing(folder)).not.toEqual([]);
  // Ctrl-C in a terminal reaches this process, and npm, which sends it on: the second signal may not end it at once.
  second.signal("SIGTERM");
  await second.untilPrinted("Stopping");
  await stop(second, "SIGINT");
  expect(await unanswered).toBe("cut");
  expect(await second.exitCode).toBe(0);
  expect(existsSync(join(folder, "s.json"))).toBe(false);
  expect(processesUsing(folder)).toEqual([]);
});

/**
 * Gives the account the endpoint, and settles its transaction while no service runs, as if it had been killed right after
 * this write.
 */
const settleWhileStopped = async (folder: string, accountId: string, reference: string, url: string): Promise<void> => {
  const files = {
    databaseFile: join(folder, "data/tables.db"),
    pidFile: join(folder, "pid"),
    logFile: join(folder, "log"),
  };
  const dynamodb = await startDynoxide(files);
  const db = emulatorClient(dynamodb.endpoint);
  const secrets = z
    .object({ "webhook-key": z.string() })
    .parse(JSON.parse(readFileSync(join(folder, "data/secrets.json"), "utf8")));
  const value = async () => secrets["webhook-key"];
  const accounts = { db, ledgerTable: localTableNames.ledger };
  const rules = { allowed: parseIpRanges("127.0.0.0/8"), refusedHosts: [], resolve: systemResolve };
  await setEndpoint(
    { accounts, webhookSealingKey: { value, refetch: value }, clock: systemClock },
    rules,
    accountId,
    url,
  );
  const ledger = { db, table: localTableNames.ledger, clock: systemClock };
  const transaction = await readTransaction(ledger, pkOfReference(reference) ?? "");
  expect(
    transaction && (await settleTransaction(ledger, transaction, { status: "success" }, deadlineIn(10_000))).kind,
  ).toBe("applied");
  await dynamodb.stop();
};

test("with workers off events wait in the queue; purchases that were switched off stay off after a restart, and a carry-over may run", async () => {
  const folder = temporaryFolder();
  const serviceFile = join(folder, "s.json");
  const workersOff = () => startHere({ dataDir: join(folder, "data"), serviceFile, workers: "off" });
  const first = await workersOff();
  const { details } = first;
  const bought = await buyAirtime(details, "08000000004");
  const reference = bought.headers.get("x-transaction-reference");
  const lookUp = async ({ base_url, accounts }: ServiceDetails): Promise<unknown> => {
    const headers = { authorization: `Bearer ${accounts[0]?.live_key}` };
    return (await fetch(`${base_url}/transactions/${reference}`, { headers })).json();
  };
  const control = details.upstream.base_url.replace(/\/v1$/, "/_simulator/events");
  const event = await fetch(control, { method: "POST", body: JSON.stringify({ reference, status: "success" }) });
  expect(await event.json()).toMatchObject({ deliveries: [{ status: 200 }] });
  // With workers on, the event would be applied within 0.1 s.
  await sleep(1_000);
  expect(await lookUp(details)).toMatchObject({ data: { transaction: { status: "processing" } } });
  const admin = (...args: readonly string[]) => runCommand(args, { serviceFile });
  expect(await admin("purchases", "off", "--why", "restore")).toMatchObject({ code: 0 });
  await first.stop();

  const { details: restarted } = await workersOff();
  expect((await buyAirtime(restarted, "08031234567")).status).toBe(503);
  expect((await post(restarted, "/identity/nin/verify", { nin: "00000000000", is_consent: true })).status).toBe(503);
  expect(await lookUp(restarted)).toMatchObject({ data: { transaction: { status: "processing" } } });
  expect(await admin("ledger", "carry-over", "--from", "nowhere", "--dry-run")).toMatchObject({
    ...{ code: 2, stderr: "There is no table nowhere.\n" },
  });
});

test("with another upstream live purchases go there, its key is not written to disk, and it may send unsigned events", async () => {
  const upstream = await startSimulator({ liveKey: "live_of_another_upstream" });
  cleanups.push(upstream.stop);
  const dataDir = join(temporaryFolder(), "data");
  const settings = {
    baseUrl: upstream.baseUrl,
    liveKey: "live_of_another_upstream",
    profile: { reference: "all" },
  } as const;
  const { details } = await startHere({ dataDir, upstream: settings });
  expect(details.upstream.base_url).toBe(upstream.baseUrl);
  expect((await buyOnce(details)).body).toContain('"status":"success"');
  expect(upstream.state.purchases).toHaveLength(1);
  expect(readFileSync(join(dataDir, "secrets.json"), "utf8")).not.toContain("live_of_another_upstream");
  expect(await sendUnsigned(details)).toBe(200);
});

test("the simulator accepts each of the upstream keys that the secret holds, orders are sold with them, and --fresh deletes data and no other files", async () => {
  const dataDir = join(temporaryFolder(), "data");
  const first = await startHere({ dataDir });
  const [before] = first.details.accounts;
  await first.stop();
  const path = join(dataDir, "secrets.json");
  const secrets = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(path, JSON.stringify({ ...secrets, "upstream-key": "live_one\nlive_two" }));
  const second = await startHere({ dataDir });
  const { base_url } = second.details.upstream;
  const statuses = ["live_one", "live_two", "live_three"].map(
    async (key) => (await fetch(`${base_url}/vtu/data`, { headers: { authorization: `Bearer ${key}` } })).status,
  );
  expect(await Promise.all(statuses)).toEqual([200, 200, 401]);
  expect((await buyOnce(second.details)).body).toContain('"status":"success"');
  await second.stop();

  const otherFile = join(dataDir, "notes.txt");
  writeFileSync(otherFile, "notes");
  const [after] = (await startHere({ dataDir, fresh: true })).details.accounts;
  expect(after?.live_key).not.toBe(before?.live_key);
  expect(after?.balance).toBe(100_000);
  expect(existsSync(otherFile)).toBe(true);
});

test("each data directory has tables of its own in a DynamoDB that runs already, also after --fresh", async () => {
  const folder = temporaryFolder();
  const dynamodb = await startTestDynamoDb(folder);
  cleanups.push(dynamodb.stop);
  const buyFrom = async (name: string, fresh = false) => {
    const settings = { dataDir: join(folder, name), fresh, dynamodbEndpoint: dynamodb.endpoint };
    const service = await startHere(settings);
    const { body, replayed } = await buyOnce(service.details);
    await service.stop();
    return { account: service.details.accounts[0]?.account_id, isSold: body.includes('"status":"success"'), replayed };
  };
  const first = await buyFrom("one");
  expect(first).toMatchObject({ isSold: true, replayed: null });
  expect(await buyFrom("two")).toMatchObject({ isSold: true, replayed: null });
  expect(await buyFrom("one")).toEqual({ ...first, replayed: "true" });
  expect(await buyFrom("one", true)).toMatchObject({ isSold: true, replayed: null });
});

test.each<[string, RunOptions, (run: Run) => void]>([
  ["SIGKILL to npm alone", { program: ["npm", "start"] }, ({ child }) => child.kill("SIGKILL")],
  ["the end of what reads its output, such as head,", {}, ({ child }) => child.stdout?.destroy()],
])("%s stops all processes and removes the service file, without a stack trace", async (_what, options, end) => {
  const run = start(options);
  const details = await ready(run);
  end(run);
  // What it logs is written to nobody.
  await sendUnsigned(details).catch(() => "stopped");
  await eventually(() => expect(processesUsing(run.folder)).toEqual([]));
  expect([existsSync(join(run.folder, "s.json")), run.stderr()]).toEqual([false, ""]);
});

/** The command prints the sentence, and ends with 2: as above, where the data is used by another one. */
describe("a start is refused with a sentence", () => {
  const refusal = (settings: ServiceSettings) => expect(startHere(settings)).rejects;

  test("if its port is in use, and leaves no process running", async () => {
    const server = createServer();
    cleanups.push(() => server.close());
    const port = await listenOnLoopback(server);
    const folder = temporaryFolder();
    const sentence = `Port ${port} is in use: PORT=0 npm start takes a free one.`;
    await refusal({ port, dataDir: join(folder, "data") }).toThrow(new SettingsError(sentence));
    expect(processesUsing(folder)).toEqual([]);
  });

  test("if the lock of its DATA_DIR cannot be opened", async () => {
    const dataDir = temporaryFolder();
    mkdirSync(join(dataDir, "runner.lock"));
    const sentence = `DATA_DIR ${dataDir} cannot be used: unable to open database file.`;
    await refusal({ dataDir }).toThrow(new SettingsError(sentence));
  });

  test("if its DATA_DIR has files of another program, which are not changed", async () => {
    const dataDir = temporaryFolder();
    writeFileSync(join(dataDir, "letter.txt"), "text");
    const sentence = `${dataDir} holds files of another program: choose another DATA_DIR.`;
    await refusal({ dataDir, fresh: true }).toThrow(new SettingsError(sentence));
    expect(readdirSync(dataDir)).toEqual(["letter.txt"]);
  });

  test.each<[string, ServiceSettings, RegExp]>([
    ["its DynamoDB does not respond", { dynamodbEndpoint: "http://127.0.0.1:1" }, /^Nothing answers at .*:1\./],
    [
      "its DATA_DIR is below /proc",
      { dataDir: "/proc/none/data" },
      /^DATA_DIR \/proc\/none\/data cannot be used: .*\(ENOENT\)/,
    ],
    ["its DATA_DIR is a file", { dataDir: "/dev/null" }, /^DATA_DIR \/dev\/null cannot be used: .*\(ENOTDIR\)/],
    [
      "its SERVICE_FILE is below /proc",
      { serviceFile: "/proc/none/s.json" },
      /^SERVICE_FILE \/proc\/none\/s\.json cannot be used: .*\(ENOENT\)/,
    ],
  ])("if %s", async (_what, settings, sentence) => {
    await refusal(settings).toThrow(
      expect.objectContaining({ name: SettingsError.name, message: expect.stringMatching(sentence) }),
    );
  });
});
