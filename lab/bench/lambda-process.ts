import * as z from "zod";
import { routes } from "../../shared/contract/routes.ts";
import { API_FUNCTION_TIMEOUT_S } from "../../shared/platform/time-budgets.ts";
import { anApiEvent } from "../../test/builders/aws/api-event.ts";
import { LAMBDA_FLAGS } from "../../test/builders/aws/lambda-flags.ts";
import { anOrder } from "../../test/builders/service/service.ts";
import type { Bundle } from "./bundle.ts";
import { startChild } from "./child.ts";
import { unlimited } from "./memory/cpu-share.ts";

const report = z.union([
  /** The bundle is loaded, and its code outside the handler has run. */
  z.object({ initMs: z.number() }),
  /** All invocations have done their work. */
  z.object({
    durationsMs: z.array(z.number()),
    /** CPU time of the invocations, and of the whole process so far. */
    cpuUs: z.number(),
    cpuSinceStartUs: z.number(),
    /** The most that the process ever had. */
    memoryKb: z.number(),
    lastAnswer: z.looseObject({}),
  }),
]);
export type LambdaProcess = Awaited<ReturnType<typeof startLambda>>;

/**
 * Starts a bundle in a process of its own, as in an instance of Lambda: one event at a time, with the given environment
 * only, and within a share of the machine if there is one.
 */
export const startLambda = async (
  { path, runtimePath }: Pick<Bundle, "path" | "runtimePath">,
  environment: Readonly<Record<string, string | undefined>>,
  logFile: string,
  share = unlimited,
) => {
  const command = share.limited([process.execPath, ...LAMBDA_FLAGS, runtimePath, path]);
  const { nextMessage, ask, stop } = startChild(command, environment, logFile, report);
  const started = await nextMessage();
  if (!("initMs" in started)) throw new Error(`${path} was not loaded`);
  return {
    /** The duration of loading the bundle, which is most of Lambda's INIT. */
    initMs: started.initMs,
    invoke: async (events: readonly unknown[], timeoutS = API_FUNCTION_TIMEOUT_S) => {
      const invoked = await ask({ events: [...events], timeoutS });
      if (!("durationsMs" in invoked)) throw new Error(`${path} was not invoked`);
      return invoked;
    },
    stop: async (): Promise<void> => {
      await stop();
      share.remove();
    },
  };
};

/** A purchase as API Gateway passes it on, with a new reference. */
export const purchaseEvent = (key: string) =>
  anApiEvent({
    method: routes.buyData.method,
    path: routes.buyData.path,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(anOrder({ reference: crypto.randomUUID() })),
    sourceIp: "127.0.0.1",
  });
