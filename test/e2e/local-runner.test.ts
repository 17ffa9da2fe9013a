import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { sleep } from "../../shared/platform/time.ts";
import { startService } from "../../tools/local/service.ts";
import type { ServiceDetails } from "../../tools/local/service-file.ts";
import { startSimulator } from "../../tools/simulator/server.ts";
import { cleanups, temporaryFolder } from "../builders/cleanups.ts";
import { eventually } from "../builders/eventually.ts";
import { listeningSockets } from "../builders/listening-sockets.ts";
import { type ProcessGroup, startGroup } from "../builders/process-group.ts";

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

test("npm start writes its URL and keys to the service file, its printed commands work when pasted, it listens on loopback only, and no second one may use its data", async () => {
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
  const [catalog, purchase, wallet, help] = await runPrintedCommands(run);
  expect(catalog.data.data_plans.length).toBeGreaterThan(0);
  expect(purchase.data.transaction.status).toBe("success");
  expect(wallet.data.wallet.balance).toBe(100_000 - purchase.data.transaction.amount);
  const [inReadme] = /GET \/_simulator\/help/.exec(readFileSync("README.md", "utf8")) ?? [];
  expect(help.operations[0].route).toBe(inReadme?.replace("/_simulator", ""));

  const sockets = listeningSockets(run.child.pid ?? 0);
  // The gateway, the identity provider, the simulator, dynoxide, SQS and Secrets Manager.
  expect(sockets).toHaveLength(6);
  expect(sockets.filter(({ isLoopback }) => !isLoopback)).toEqual([]);

  expect(await sendUnsigned(details)).toBe(401);

  const second = start({ folder: run.folder });
  expect(await second.exitCode).toBe(2);
  expect(second.output()).toMatch(/^Another npm start uses .*: stop it, or choose another DATA_DIR\.\n$/);
  expect(existsSync(join(run.folder, "s.json"))).toBe(true);
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

test("SIGINT stops all processes without waiting for a purchase of 20 s", async () => {
  const run = start();
  const { base_url, accounts } = await ready(run);
  const unanswered = fetch(`${base_url}/vtu/data/purchase`, {
    method: "POST",
    headers: { "X-API-KEY": accounts[0]?.live_key ?? "", "Content-Type": "application/json" },
    body: JSON.stringify({ network_id: 1, plan_id: 101, phone_number: "08000000007", reference: "stalled" }),
  }).catch(() => "cut");
  await sleep(300);
  expect(processesUsing(run.folder)).not.toEqual([]);
  await stop(run, "SIGINT");
  expect(await unanswered).toBe("cut");
  expect(await run.exitCode).toBe(0);
  expect(existsSync(join(run.folder, "s.json"))).toBe(false);
  expect(processesUsing(run.folder)).toEqual([]);
});

/** Buys a bundle of 500 NGN under one reference. */
const buyOnce = async ({ base_url, accounts }: ServiceDetails) => {
  const response = await fetch(`${base_url}/vtu/data/purchase`, {
    method: "POST",
    headers: { authorization: `Bearer ${accounts[0]?.live_key}`, "content-type": "application/json" },
    body: JSON.stringify({ network_id: 1, plan_id: 101, phone_number: "08031234567", reference: "once" }),
  });
  return { replayed: response.headers.get("idempotent-replayed"), body: await response.text() };
};

test("a restart after SIGKILL has the same keys and balance, and the same reference is replayed", async () => {
  const first = start();
  const before = await ready(first);
  const purchase = await buyOnce(before);
  await stop(first, "SIGKILL");
  await eventually(() => expect(processesUsing(first.folder)).toEqual([]));

  const after = await ready(start({ folder: first.folder }));
  expect(after.accounts[0]).toEqual({ ...before.accounts[0], balance: 99_500 });
  expect(await buyOnce(after)).toEqual({ replayed: "true", body: purchase.body });
  expect(statSync(join(first.folder, "data/secrets.json")).mode & 0o777).toBe(0o600);
});

test("with workers off events wait in the queue; purchases that were switched off stay off after a restart, and a carry-over may run", async () => {
  const folder = temporaryFolder();
  const buy = (details: ServiceDetails, phoneNumber: string): Promise<Response> =>
    fetch(`${details.base_url}/vtu/airtime/purchase`, {
      method: "POST",
      headers: { authorization: `Bearer ${details.accounts[0]?.live_key}`, "content-type": "application/json" },
      body: JSON.stringify({ network: "mtn", phone_number: phoneNumber, amount: 100 }),
    });
  const workersOff = start({ folder, env: { WORKERS: "off" } });
  const details = await ready(workersOff);
  const bought = await buy(details, "08000000004");
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
  const env = { ...process.env, SERVICE_FILE: join(folder, "s.json") };
  const admin = (...args: readonly string[]): Promise<unknown> =>
    promisify(execFile)(process.execPath, ["tools/admin/main.ts", ...args], { env });
  await admin("purchases", "off", "--why", "restore");
  await stop(workersOff, "SIGTERM");

  const restarted = await ready(start({ folder, env: { WORKERS: "off" } }));
  expect((await buy(restarted, "08031234567")).status).toBe(503);
  expect(await lookUp(restarted)).toMatchObject({ data: { transaction: { status: "processing" } } });
  const refused = await admin("ledger", "carry-over", "--from", "nowhere", "--dry-run").catch((error) => error);
  expect(refused).toMatchObject({ code: 2, stderr: "There is no table nowhere.\n" });
});

test("with UPSTREAM_BASE_URL live purchases go to that upstream, its key is not written to disk, and it may send unsigned events", async () => {
  const upstream = await startSimulator({ liveKey: "live_of_another_upstream" });
  cleanups.push(upstream.stop);
  const env = {
    UPSTREAM_BASE_URL: `${upstream.baseUrl}/`,
    UPSTREAM_LIVE_KEY: "live_of_another_upstream",
    UPSTREAM_PROFILE: '{"reference":"all"}',
  };
  const run = start({ env });
  const details = await ready(run);
  expect(details.upstream.base_url).toBe(upstream.baseUrl);
  const [, purchase] = await runPrintedCommands(run);
  expect(purchase.data.transaction.status).toBe("success");
  expect(upstream.state.purchases).toHaveLength(1);
  expect(readFileSync(join(run.folder, "data/secrets.json"), "utf8")).not.toContain("live_of_another_upstream");
  expect(await sendUnsigned(details)).toBe(200);
});

test("the simulator accepts each of the upstream keys that the secret holds, orders are sold with them, and --fresh deletes data and no other files", async () => {
  const first = start();
  const before = await ready(first);
  await stop(first, "SIGTERM");
  const path = join(first.folder, "data/secrets.json");
  const secrets = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(path, JSON.stringify({ ...secrets, "upstream-key": "live_one\nlive_two" }));
  const run = start({ folder: first.folder });
  const { base_url } = (await ready(run)).upstream;
  const statuses = ["live_one", "live_two", "live_three"].map(
    async (key) => (await fetch(`${base_url}/vtu/data`, { headers: { authorization: `Bearer ${key}` } })).status,
  );
  expect(await Promise.all(statuses)).toEqual([200, 200, 401]);
  const [, purchase] = await runPrintedCommands(run);
  expect(purchase.data.transaction.status).toBe("success");
  await stop(run, "SIGTERM");

  const otherFile = join(first.folder, "data/notes.txt");
  writeFileSync(otherFile, "notes");
  const after = await ready(start({ folder: first.folder, args: ["--fresh"] }));
  expect(after.accounts[0]?.live_key).not.toBe(before.accounts[0]?.live_key);
  expect(after.accounts[0]?.balance).toBe(100_000);
  expect(existsSync(otherFile)).toBe(true);
});

test("the runner exits with a message when its database is killed", async () => {
  const run = start();
  await ready(run);
  process.kill(Number(readFileSync(join(run.folder, "data/dynamodb.pid"), "utf8")), "SIGKILL");
  expect(await run.exitCode).toBe(1);
  expect(run.output()).toContain("The local DynamoDB (dynoxide) has exited.");
  expect(processesUsing(run.folder)).toEqual([]);
});

test.each(["SIGTERM", "SIGKILL"] as const)("%s to npm alone stops all processes", async (signal) => {
  const run = start({ program: ["npm", "start"] });
  await ready(run);
  run.child.kill(signal);
  await eventually(() => expect(processesUsing(run.folder)).toEqual([]));
});

test("a port in use is refused with a message, and no process is left running", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => server.close());
  const address = server.address();
  const port = typeof address === "object" && address !== null ? String(address.port) : "";
  const run = start({ env: { PORT: port } });
  expect(await run.exitCode).toBe(2);
  expect(run.output()).toBe(`Port ${port} is in use: PORT=0 npm start takes a free one.\n`);
  expect(processesUsing(run.folder)).toEqual([]);
});

test("a DATA_DIR whose lock cannot be opened is refused with a message", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "runner.lock"));
  const run = start({ env: { DATA_DIR: folder } });
  expect(await run.exitCode).toBe(2);
  expect(run.output()).toMatch(/^DATA_DIR .* cannot be used: unable to open database file\.\n$/);
});

test("a DATA_DIR with files of another program is refused and not changed", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "letter.txt"), "text");
  const run = start({ env: { DATA_DIR: folder }, args: ["--fresh"] });
  expect(await run.exitCode).toBe(2);
  expect(run.output()).toBe(`${folder} holds files of another program: choose another DATA_DIR.\n`);
  expect(readdirSync(folder)).toEqual(["letter.txt"]);
});

test.each<[string, RunOptions, RegExp]>([
  ["a PORT that is not a number", { env: { PORT: "40x" } }, /^PORT must be a number from 0 to 65535; it is "40x"\.\n$/],
  [
    "a DynamoDB that does not respond",
    { env: { DYNAMODB_ENDPOINT: "http://127.0.0.1:1" } },
    /Nothing answers at .*:1\./,
  ],
  [
    "a DATA_DIR below /proc",
    { env: { DATA_DIR: "/proc/none/data" } },
    /^DATA_DIR \/proc\/none\/data cannot be used: ENOENT/,
  ],
  ["a DATA_DIR that is a file", { env: { DATA_DIR: "/dev/null" } }, /^DATA_DIR \/dev\/null cannot be used: ENOTDIR/],
  [
    "a SERVICE_FILE below /proc",
    { env: { SERVICE_FILE: "/proc/none/s.json" } },
    /SERVICE_FILE \/proc\/none\/s\.admin\.json cannot be used: ENOENT/,
  ],
])("%s is refused with a message", async (_what, options, message) => {
  const run = start(options);
  expect(await run.exitCode).toBe(2);
  expect(run.output()).toMatch(message);
  expect(run.output()).not.toContain("    at ");
});

test("the service can be started twice in one process, each time with its own tables", async () => {
  for (const _round of [1, 2]) {
    const service = await startService();
    const [account] = service.details.accounts;
    const headers = { "X-API-KEY": account?.live_key ?? "" };
    const response = await fetch(`${service.details.base_url}/wallet`, { headers });
    expect(await response.json()).toMatchObject({ data: { wallet: { balance: 100_000 } } });
    await service.stop();
    await service.stop();
    expect(process.env.LEDGER_TABLE).toBeUndefined();
  }
});
