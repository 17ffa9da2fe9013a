import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import * as z from "zod";
import { projectRoot } from "../../infra/bundle/bundle.ts";

/** An emulator of AWS that deploys through CloudFormation and runs the functions. */
const PACKAGE = "ministack==1.5.33";
const REGION = "us-east-1";
const ACCOUNT = "000000000000";

const run = promisify(execFile);
const tools = join(projectRoot, "node_modules", ".bin");
const path = [tools, process.env.PATH].join(delimiter);

export type Deployed = {
  /** Where the interface answers, `/v1` included. */
  readonly baseUrl: string;
  readonly outputs: Readonly<Record<string, string>>;
  /** What a process needs to be led to the emulator instead of AWS. */
  readonly environment: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
};

/** Deploys the sandbox stage as it is, with the commands that deploy it to AWS. */
export const deploySandbox = async (): Promise<Deployed> => {
  const python = await install();
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
    await answering(`${endpoint}/_ministack/health`);
    const environment = {
      AWS_ENDPOINT_URL: endpoint,
      AWS_ENDPOINT_URL_S3: endpoint,
      AWS_ACCESS_KEY_ID: "test",
      AWS_SECRET_ACCESS_KEY: "test",
      AWS_REGION: REGION,
      AWS_EC2_METADATA_DISABLED: "true",
    };
    const options = { cwd: projectRoot, env: { HOME: home, PATH: path, CI: "true", ...environment } };
    await run(join(tools, "cdk"), ["bootstrap", `aws://${ACCOUNT}/${REGION}`, "--app", ""], options);
    const file = join(home, "outputs.json");
    const deploy = ["run", "deploy", "--", "--stage", "sandbox", "--require-approval", "never", "--outputs-file", file];
    await run("npm", deploy, options);
    const { "Sandbox-Service": outputs = {} } = outputsFile.parse(JSON.parse(readFileSync(file, "utf8")));
    const [api] = new URL(outputs.ApiUrl ?? "").hostname.split(".");
    // The host of the API's own URL is not resolved by Node.
    return { baseUrl: `${endpoint}/_aws/execute-api/${api}/$default/v1`, outputs, environment, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const outputsFile = z.record(z.string(), z.record(z.string(), z.string()));

/** Into a folder of its own; the next run finds it there. */
const install = async (): Promise<string> => {
  const folder = join(projectRoot, ".local", PACKAGE);
  const python = join(folder, "bin", "python");
  if (existsSync(join(folder, "installed"))) return python;
  mkdirSync(join(projectRoot, ".local"), { recursive: true });
  try {
    await run("python3", ["-m", "venv", folder]);
    await run(python, ["-m", "pip", "install", "--quiet", PACKAGE, "uvicorn"]);
    mkdirSync(join(folder, "installed"));
    return python;
  } catch (error) {
    throw new Error("The deployment test needs Python 3 with venv, and pip's registry. Install python3-venv.", {
      cause: error,
    });
  }
};

const start = (python: string, port: number, home: string): ChildProcess => {
  const address = ["--host", "127.0.0.1", "--port", String(port)];
  // The emulator writes a Date of its own, and two make the SDK's clock not a number. No header of the web server's is ours.
  return spawn(python, ["-m", "uvicorn", "ministack.app:app", ...address, "--no-date-header", "--no-server-header"], {
    cwd: home,
    stdio: "ignore",
    // The functions inherit all of it. The name, and not the address, because the queues' URLs have it.
    env: { HOME: home, PATH: path, IOT_MTLS_ENABLED: "0", AWS_ENDPOINT_URL: `http://localhost:${port}` },
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

const answering = async (url: string): Promise<void> => {
  for (let tries = 0; tries < 300; tries += 1) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer !== undefined) return;
    await sleep(100);
  }
  throw new Error(`The emulator does not answer at ${url}`);
};
