import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { projectRoot } from "../../infra/bundle/project-root.ts";
import { freePort } from "../../tools/local/loopback.ts";
import { WAIT_MS_MAX } from "../builders/run/until.ts";
import { type ProcessGroup, startGroup } from "../builders/service/process-group.ts";
import { installEmulator } from "./install-emulator.ts";

/** The account and region that the emulator answers for: not the placeholder of stages.ts. */
export const ACCOUNT = "111122223333";
export const REGION = "us-east-1";

const SERVER = join(projectRoot, "test", "deploy", "emulator.py");

const tools = join(projectRoot, "node_modules", ".bin");
const path = [tools, process.env.PATH].join(delimiter);

/** The host of the API's URL is below localhost, which is loopback (RFC 6761), but not every resolver knows that. */
const RESOLVE_LOCALHOST = `import dns from "node:dns";
const { lookup } = dns;
dns.lookup = (name, ...rest) => lookup(name.endsWith(".localhost") ? "127.0.0.1" : name, ...rest);`;

/** The result of a command. */
export type CommandResult = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** An AWS account of its own on this machine. */
export type Emulator = {
  /** `http://127.0.0.1:PORT`. */
  readonly endpoint: string;
  /** The environment variables that make a process use the emulator instead of AWS. */
  readonly environment: Readonly<Record<string, string>>;
  /** Starts a command in a checkout of the project against the emulator; Ctrl-C ends it with the test. */
  readonly start: (folder: string, command: string, ...args: readonly string[]) => ProcessGroup;
  /** Runs such a command to its end. */
  readonly run: (folder: string, command: string, ...args: readonly string[]) => Promise<CommandResult>;
  readonly stop: () => Promise<void>;
};

/** Starts an emulator with nothing in it. It trusts the certificate where it reads the keys of an identity provider. */
export const startEmulator = async (trustedCertificate?: string): Promise<Emulator> => {
  const python = await installEmulator();
  const port = await freePort();
  const home = mkdtempSync(join(tmpdir(), "emulator-"));
  const endpoint = `http://127.0.0.1:${port}`;
  if (trustedCertificate !== undefined) writeFileSync(join(home, TRUSTED), trustedCertificate);
  const server = start(python, port, home);
  const stop = async (): Promise<void> => {
    const ended = server.exitCode === null ? once(server, "exit") : undefined;
    server.stdin.end();
    await ended;
    rmSync(home, { recursive: true, force: true });
  };
  const environment = {
    AWS_ENDPOINT_URL: endpoint,
    AWS_ENDPOINT_URL_S3: endpoint,
    // The emulator takes twelve digits for the account.
    AWS_ACCESS_KEY_ID: ACCOUNT,
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_REGION: REGION,
    AWS_EC2_METADATA_DISABLED: "true",
  };
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(RESOLVE_LOCALHOST)}`;
  const { NODE_COMPILE_CACHE } = process.env;
  const env = {
    HOME: home,
    PATH: path,
    TMPDIR: tmpdir(),
    CI: "true",
    // CDK's rules are those of cfn-lint, which checks all variants, and take a third of a synthesis.
    CDK_VALIDATION: "false",
    NODE_OPTIONS,
    ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }),
    ...environment,
  };
  try {
    await waitUntilReady(`${endpoint}/_ministack/health`);
  } catch (error) {
    await stop();
    throw error;
  }
  const startCommand: Emulator["start"] = (cwd, command, ...args) =>
    startGroup(command, args, { cwd, env, endedBy: "SIGINT" });
  return {
    endpoint,
    environment,
    start: startCommand,
    run: async (...command) => {
      const { exitCode, stdout, stderr } = startCommand(...command);
      return { code: (await exitCode) ?? -1, stdout: stdout(), stderr: stderr() };
    },
    stop,
  };
};

/** In the emulator's home: the certificate that it trusts. */
const TRUSTED = "trusted.pem";

/**
 * Ends a program when its own input ends, which happens however this process ends. The emulator leaves processes of
 * functions behind, so it has a process group of its own, of which nothing remains.
 */
const UNTIL_INPUT_ENDS = 'set -m; "$@" </dev/null & read -r _; kill $!; wait; kill -9 -- -$! 2>/dev/null';

const start = (python: string, port: number, home: string): ChildProcessByStdio<Writable, null, null> => {
  const address = ["--host", "127.0.0.1", "--port", String(port)];
  // The emulator sends a Date header itself, and a second one turns the SDK's clock skew into NaN.
  const server = [SERVER, "ministack.app:app", ...address, "--no-date-header", "--no-server-header"];
  return spawn("bash", ["-c", UNTIL_INPUT_ENDS, "emulator", python, ...server], {
    cwd: home,
    stdio: ["pipe", "ignore", "ignore"],
    // The functions inherit these variables.
    env: {
      HOME: home,
      TMPDIR: home,
      PATH: path,
      IOT_MTLS_ENABLED: "0",
      // The origin of URLs in outputs: the name and not the address, because the URLs of queues have it.
      AWS_ENDPOINT_URL: `http://localhost:${port}`,
      MINISTACK_ACCOUNT_ID: ACCOUNT,
      GATEWAY_PORT: String(port),
      // As in an AWS account; the default depends on the memory of this machine.
      LAMBDA_ACCOUNT_CONCURRENCY: "1000",
      ...(existsSync(join(home, TRUSTED)) && { SSL_CERT_FILE: join(home, TRUSTED) }),
    },
  });
};

const waitUntilReady = async (url: string): Promise<void> => {
  for (const endMs = Date.now() + WAIT_MS_MAX; Date.now() < endMs; ) {
    const response = await fetch(url).catch(() => undefined);
    if (response !== undefined) return;
    await sleep(100);
  }
  throw new Error(`The emulator does not respond at ${url}`);
};
