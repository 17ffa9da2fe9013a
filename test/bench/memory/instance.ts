import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type FunctionName, functionSpecs } from "../../../infra/functions.ts";
import { type CpuShare, openCpuShare } from "./cpu-share.ts";
import { type Invoked, invoked } from "./invocation.ts";

const runtime = fileURLToPath(new URL("runtime.ts", import.meta.url));
let instances = 0;

/** A new instance of a function: a process of its own with the limits of one size. */
export type Instance = {
  readonly invoke: (event: unknown) => Promise<Invoked>;
  readonly stop: () => Promise<void>;
};

export const startInstance = async (
  name: FunctionName,
  memoryMb: number,
  {
    bundle,
    environment,
  }: { readonly bundle: string; readonly environment: Readonly<Record<string, string | undefined>> },
): Promise<Instance> => {
  instances += 1;
  const share: CpuShare = openCpuShare(`bench-${process.pid}-${instances}`, memoryMb);
  const [command, ...args] = share.limited([process.execPath, runtime, bundle]);
  const env = { PATH: process.env.PATH, NODE_ENV: "production", ...environment };
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "inherit", "ipc"], env });
  const exited = once(child, "exit");
  const died = exited.then(([code, signal]) => {
    throw new Error(`${name} does not run with ${memoryMb} MB: ${signal ?? code}`);
  });
  died.catch(() => {});
  const message = async (): Promise<unknown> => (await Promise.race([once(child, "message"), died]))[0];
  await message();
  return {
    invoke: async (event) => {
      child.send({ event, timeoutS: functionSpecs[name].timeoutS });
      return invoked.parse(await message());
    },
    stop: async () => {
      if (child.connected) child.disconnect();
      await exited;
      share.remove();
    },
  };
};
