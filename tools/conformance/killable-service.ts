import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { closeSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as z from "#zod";
import { projectRoot } from "../../infra/bundle/project-root.ts";
import { sleep } from "../../shared/platform/time.ts";
import { type AdminContext, openAdminContext } from "../admin/context.ts";
import { setEnvironment } from "../local/local-aws.ts";
import { freePort } from "../local/loopback.ts";
import { type SimulatorOptions, startSimulator } from "../simulator/server.ts";

const NO_LIMIT = 1_000_000_000;
const START_MS_MAX = 120_000;

const serviceFile = z.object({
  base_url: z.string(),
  upstream: z.object({ webhook_url: z.string(), webhook_secret: z.string() }),
});

/** How the service is run. */
type RunOptions = {
  /** What is run instead of `npm start`. */
  readonly script?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Opens the file of what each start prints. */
  readonly openLog?: () => number;
};

export type KillableService = Awaited<ReturnType<typeof startKillableService>>;

/** `npm start` with a simulator outside its process, to be killed and started again. */
export const startKillableService = async (
  folder: string,
  upstream: Omit<SimulatorOptions, "liveKey"> = {},
  { script = "tools/local/start.ts", env = {}, openLog }: RunOptions = {},
) => {
  const port = await freePort();
  const path = join(folder, "service.json");
  const liveKey = `live_${randomBytes(32).toString("base64url")}`;
  const limits = { vtu: NO_LIMIT, identity: NO_LIMIT, catalog: NO_LIMIT };
  const simulator = await startSimulator({ liveKey, limits, ...upstream });
  let kill = async (): Promise<void> => {};
  let pid: number | undefined;
  let opened: AdminContext | undefined;

  const start = async (): Promise<void> => {
    rmSync(path, { force: true });
    const log = openLog?.();
    const output = log ?? "ignore";
    const child = spawn(process.execPath, [script], {
      cwd: projectRoot,
      stdio: ["ignore", output, output],
      env: {
        ...process.env,
        PORT: String(port),
        DATA_DIR: join(folder, "data"),
        SERVICE_FILE: path,
        UPSTREAM_BASE_URL: simulator.baseUrl,
        UPSTREAM_LIVE_KEY: liveKey,
        UPSTREAM_PROFILE: JSON.stringify({ reference: upstream.references ?? "all" }),
        ...env,
      },
    });
    if (log !== undefined) closeSync(log);
    pid = child.pid;
    const ended = once(child, "exit");
    const killAtExit = (): void => void child.kill("SIGKILL");
    process.once("exit", killAtExit);
    kill = async () => {
      opened?.close();
      opened = undefined;
      child.kill("SIGKILL");
      await ended;
      process.off("exit", killAtExit);
      // Its database ends right after it.
      await sleep(200);
    };
    for (const endMs = Date.now() + START_MS_MAX; !existsSync(path); await sleep(20)) {
      if (child.exitCode !== null || Date.now() > endMs) throw new Error("The service did not start");
    }
    const { webhook_url: url, webhook_secret: secret } = details().upstream;
    simulator.state.webhook = { url, secret };
  };
  const details = () => serviceFile.parse(JSON.parse(readFileSync(path, "utf8")));

  await start();
  return {
    baseUrl: details().base_url,
    port,
    /** In this process, so that it survives the kills. */
    simulator,
    /** Of the process that runs now. */
    pid: () => pid,
    /** The operator's access to it. */
    admin: async (): Promise<AdminContext> => {
      if (opened !== undefined) return opened;
      const restore = setEnvironment({ SERVICE_FILE: path });
      opened = await openAdminContext({ by: "conformance" });
      restore();
      return opened;
    },
    /** kill -9. */
    kill: () => kill(),
    /** Starts the service again at the same address with the same data. */
    start,
    stop: async (): Promise<void> => {
      await kill();
      await simulator.stop();
    },
  };
};
