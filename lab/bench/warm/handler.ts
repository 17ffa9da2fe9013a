import middy from "@middy/core";
import type { Admit, Call } from "../../../shared/call/call.ts";
import { ALL_ENTITLEMENTS } from "../../../shared/contract/permission.ts";
import { purchaseRoutes } from "../../../shared/contract/routes.ts";
import { apiHandler } from "../../../shared/lambda/api-handler.ts";
import { apiEvent, parseInput } from "../../../shared/lambda/api-request.ts";
import { commonHeaders, successResponse } from "../../../shared/lambda/api-response.ts";
import { log } from "../../../shared/platform/log.ts";
import { anApiEvent } from "../../../test/builders/aws/api-event.ts";
import { aLambdaContext } from "../../../test/builders/aws/lambda-context.ts";
import { times } from "../extent.ts";
import { median } from "../statistics.ts";

const BATCH = 500;
/** Warm-up rounds, which are not counted. */
const WARM_UP_ROUNDS = times(20);
const ROUNDS = times(201);

const { buyData: route } = purchaseRoutes;
const { input } = route.example;
const data = route.data.parse(route.example.data);
const rate = { limit: 60, remaining: 59 };
const caller = {
  accountId: "acc_0123456789abcdef01",
  keyId: "key_0123456789abcdef01",
  mode: "live",
  entitlements: ALL_ENTITLEMENTS,
} as const;
const admit: Admit = async () => ({ rate, caller });
const answer = { message: "Data purchase successful", data, headers: { "x-transaction-reference": "DATA_7Z9K3QX1V5" } };
const trivial = async (_call: Pick<Call<unknown>, "input">) => answer;

/** A caller's request as API Gateway passes it on. */
const event = anApiEvent({
  method: "POST",
  path: route.path,
  headers: {
    accept: "application/json",
    "accept-encoding": "gzip, br",
    authorization: `Bearer live_${"k".repeat(43)}`,
    "content-length": "93",
    "content-type": "application/json",
    host: "api.example.com",
    "user-agent": "checkout/1.0",
    "x-amzn-trace-id": "Root=1-6920a1f2-4f0c5a8b3a3f0a4f1f7f10aa",
    "x-forwarded-port": "443",
    "x-forwarded-proto": "https",
  },
  body: JSON.stringify(input),
});
const request = apiEvent.parse(event);
const context = aLambdaContext();
const response = successResponse(answer);

const handler = apiHandler(purchaseRoutes, admit, {
  buyData: trivial,
  buyAirtime: trivial,
  cancelOrder: () => Promise.reject(new Error("Only purchases are sent")),
});
const bare = middy<unknown, typeof response>({ timeoutEarlyInMillis: 0 })
  .use({ after: () => {}, onError: () => {} })
  .handler(async () => response);

/** The whole handler, its baseline and its single parts. */
const works = {
  whole: () => handler(event, context),
  direct: () => trivial({ input }),
  middy: () => bare(event, context),
  event: async () => apiEvent.parse(event),
  input: async () => parseInput(route.input, request),
  answer: async () =>
    Object.assign(successResponse({ ...answer, data: route.data.parse(data) }), commonHeaders(rate, "r")),
  log: async () => logLine(),
} as const satisfies Record<string, () => Promise<unknown>>;

const logLine = (): void =>
  log.info("request.answered", {
    request_id: "req-0001",
    route: "POST /v1/vtu/data/purchase",
    status: 200,
    code: undefined,
    account: caller.accountId,
    key: caller.keyId,
    mode: caller.mode,
    reference: "DATA_7Z9K3QX1V5",
    duration_ms: 1,
  });

export type HandlerPart = Exclude<keyof typeof works, "whole" | "direct">;
export type HandlerResults = {
  /** Per request, without the operation itself. */
  readonly overheadUs: number;
  /** Each part by itself. */
  readonly partsUs: Readonly<Record<HandlerPart, number>>;
};

/** Measures the shared handler with an operation that does nothing and an admission without I/O. */
export const measureHandler = async (): Promise<HandlerResults> => {
  const samplesUs = new Map<string, number[]>(Object.keys(works).map((name) => [name, []]));
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round += 1) {
    for (const [name, work] of Object.entries(works)) {
      const tookUs = await batchUs(work);
      if (round >= WARM_UP_ROUNDS) samplesUs.get(name)?.push(tookUs);
    }
  }
  const of = (name: keyof typeof works): number => median(samplesUs.get(name) ?? []);
  const direct = of("direct");
  const beyond = (name: keyof typeof works): number => Math.max(0, of(name) - direct);
  return {
    overheadUs: beyond("whole"),
    partsUs: {
      middy: beyond("middy"),
      event: beyond("event"),
      input: beyond("input"),
      answer: beyond("answer"),
      log: beyond("log"),
    },
  };
};

const batchUs = async (work: () => Promise<unknown>): Promise<number> => {
  const startMs = performance.now();
  for (let count = 0; count < BATCH; count += 1) await work();
  return ((performance.now() - startMs) * 1_000) / BATCH;
};
