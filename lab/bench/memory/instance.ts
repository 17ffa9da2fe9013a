import * as z from "zod";
import { functionSpecs } from "../../../functions/specs.ts";
import type { FunctionName } from "../../../infra/functions.ts";
import { LAMBDA_FLAGS } from "../../../test/builders/lambda-flags.ts";
import { startChild } from "../child.ts";
import { openCpuShare } from "./cpu-share.ts";
import { type Invocation, type Invoked, invoked } from "./invocation.ts";

const report = z.union([z.literal("loaded"), invoked]);
let instances = 0;

/** A new instance of a function: a process of its own with the limits of one size. */
export type Instance = {
  readonly invoke: (event: unknown) => Promise<Invoked>;
  readonly stop: () => Promise<void>;
};

type Files = { readonly runtime: string; readonly bundle: string; readonly log: string };

export const startInstance = async (
  name: FunctionName,
  memoryMb: number,
  { runtime, bundle, log }: Files,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Instance> => {
  instances += 1;
  const share = openCpuShare(`bench-${process.pid}-${instances}-${name}-${memoryMb}`, memoryMb);
  const command = share.limited([process.execPath, ...LAMBDA_FLAGS, runtime, bundle]);
  const { nextMessage, ask, stop } = startChild(command, environment, log, report);
  await nextMessage();
  return {
    invoke: async (event) =>
      invoked.parse(await ask({ event, timeoutS: functionSpecs[name].timeoutS } satisfies Invocation)),
    stop: async () => {
      await stop();
      share.remove();
    },
  };
};
