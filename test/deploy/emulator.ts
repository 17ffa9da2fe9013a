import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import * as z from "zod";
import { projectRoot } from "../../infra/bundle/bundle.ts";
import { installedPython } from "./python.ts";

/** An AWS emulator that deploys CloudFormation stacks and runs their functions, and its web server. */
const PACKAGES = ["ministack==1.5.33", "uvicorn==0.54.0"];
const REGION = "us-east-1";
const ACCOUNT = "000000000000";

const execute = promisify(execFile);
const tools = join(projectRoot, "node_modules", ".bin");
const path = [tools, process.env.PATH].join(delimiter);

/** The host of the API's URL is below localhost, which is loopback (RFC 6761), but not every resolver knows that. */
const RESOLVE_LOCALHOST = `import dns from "node:dns";
const { lookup } = dns;
dns.lookup = (name, ...rest) => lookup(name.endsWith(".localhost") ? "127.0.0.1" : name, ...rest);`;

/** The result of a command. */
export type CommandResult = { readonly code: number; readonly stdout: string; readonly stderr: string };

export type Deployed = {
  /** The URL of the interface, with `/v1`. */
  readonly baseUrl: string;
  readonly outputs: Readonly<Record<string, string>>;
  /** The environment variables that make a process use the emulator instead of AWS. */
  readonly environment: Readonly<Record<string, string>>;
  /** Runs a command in the project against the emulator. */
  readonly run: (command: string, ...args: readonly string[]) => Promise<CommandResult>;
  readonly stop: () => Promise<void>;
};

/** Deploys the unchanged sandbox stage with the commands that deploy it to AWS. */
export const deploySandbox = async (): Promise<Deployed> => {
  const python = await installedPython(PACKAGES);
  const port = await freePort();
  const home = mkdtempSync(join(tmpdir(), "emulator-"));
  const endpoint = `http://127.0.0.1:${port}`;
  const emulator = start(python, port, home);
  const stop = async (): Promise<void> => {
    const ended = emulator.exitCode === null ? once(emulator, "exit") : undefined;
    emulator.kill();
    await ended;
    rmSync(home, { recursive: true, force: true });
  };
  try {
    await waitUntilReady(`${endpoint}/_ministack/health`);
    const environment = {
      AWS_ENDPOINT_URL: endpoint,
      AWS_ENDPOINT_URL_S3: endpoint,
      AWS_ACCESS_KEY_ID: "test",
      AWS_SECRET_ACCESS_KEY: "test",
      AWS_REGION: REGION,
      AWS_EC2_METADATA_DISABLED: "true",
    };
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(RESOLVE_LOCALHOST)}`;
    const options = { cwd: projectRoot, env: { HOME: home, PATH: path, CI: "true", NODE_OPTIONS, ...environment } };
    await execute("npx", ["cdk", "bootstrap", `aws://${ACCOUNT}/${REGION}`, "--app", ""], options);
    const file = join(home, "outputs.json");
    const deploy = ["run", "deploy", "--", "--stage", "sandbox", "--require-approval", "never", "--outputs-file", file];
    await execute("npm", deploy, options);
    const { "Sandbox-Service": outputs = {} } = outputsFile.parse(JSON.parse(readFileSync(file, "utf8")));
    const [api] = new URL(outputs.ApiUrl ?? "").hostname.split(".");
    return {
      // The API's URL with a host that this process can resolve.
      baseUrl: `${endpoint}/_aws/execute-api/${api}/$default/v1`,
      outputs,
      environment,
      run: async (command, ...args) =>
        execute(command, args, options).then(
          (output) => ({ code: 0, ...output }),
          (error: unknown) => ({ code: -1, stdout: "", stderr: "", ...(error instanceof Error ? error : {}) }),
        ),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};

const outputsFile = z.record(z.string(), z.record(z.string(), z.string()));

const start = (python: string, port: number, home: string): ChildProcess => {
  const address = ["--host", "127.0.0.1", "--port", String(port)];
  // The emulator sends a Date header itself, and a second one turns the SDK's clock skew into NaN.
  return spawn(python, ["-m", "uvicorn", "ministack.app:app", ...address, "--no-date-header", "--no-server-header"], {
    cwd: home,
    stdio: "ignore",
    // The functions inherit these variables.
    env: {
      HOME: home,
      PATH: path,
      IOT_MTLS_ENABLED: "0",
      // The origin of URLs in outputs: the name and not the address, because the URLs of queues have it.
      AWS_ENDPOINT_URL: `http://localhost:${port}`,
      GATEWAY_PORT: String(port),
      // As in an AWS account; the default depends on the memory of this machine.
      LAMBDA_ACCOUNT_CONCURRENCY: "1000",
    },
  });
};

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = z.object({ port: z.number() }).parse(server.address());
  server.close();
  await once(server, "close");
  return port;
};

const waitUntilReady = async (url: string): Promise<void> => {
  for (let tries = 0; tries < 300; tries += 1) {
    const response = await fetch(url).catch(() => undefined);
    if (response !== undefined) return;
    await sleep(100);
  }
  throw new Error(`The emulator does not respond at ${url}`);
};
