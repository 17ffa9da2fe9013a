import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import * as z from "#zod";
import { type Headers, type JsonResponse, sendJson } from "./http.ts";

const HUGE_CHUNK_BYTES = 65_536;

/** `path` is a prefix below /v1, by default every path; `times` is how many requests are affected, by default all. */
const matchFields = {
  path: z.optional(z.string().check(z.startsWith("/"))),
  method: z.optional(z.enum(["GET", "POST"])),
  times: z.optional(z.int().check(z.minimum(1))),
};

/** `takes_order`: the request is processed and only its response is replaced. By default it is not processed. */
const responseFaultFields = { ...matchFields, takes_order: z.optional(z.boolean()) };
const httpStatus = z.int().check(z.minimum(200), z.maximum(599));

export const faultSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("delay"), ...matchFields, delay_ms: z.int().check(z.minimum(0)) }),
  z.strictObject({ kind: z.literal("drop_after_order"), ...matchFields }),
  z.strictObject({ kind: z.literal("drop_before_reading"), ...matchFields }),
  z.strictObject({
    kind: z.literal("status"),
    ...responseFaultFields,
    status: httpStatus,
    body: z.optional(z.unknown()),
  }),
  z.strictObject({ kind: z.literal("html"), ...responseFaultFields }),
  z.strictObject({
    kind: z.literal("rate_limited"),
    ...responseFaultFields,
    retry_after_s: z.int().check(z.minimum(0)),
  }),
  z.strictObject({ kind: z.literal("empty"), ...responseFaultFields }),
  z.strictObject({ kind: z.literal("huge"), ...responseFaultFields, bytes: z.int().check(z.minimum(1)) }),
  z.strictObject({
    kind: z.literal("custom"),
    ...responseFaultFields,
    status: httpStatus,
    headers: z.optional(z.record(z.string(), z.string())),
    body: z.string(),
  }),
]);

/** A fault as the control API takes it. `custom` is sent exactly as given, without the rate limit headers. */
export type Fault = z.infer<typeof faultSchema>;
type Delay = Extract<Fault, { kind: "delay" }>;
type ResponseFault = Exclude<Fault, Delay>;

/** The faults of one request, which can get both a delay and a wrong response. */
export type ActiveFaults = { readonly delayMs: number; readonly responseFault: ResponseFault | undefined };

/** The faults to inject. A request takes the first delay and the first other fault that match it. */
export class FaultPlan {
  #faults: Fault[] = [];

  /** Copies the faults, because `times` counts down. */
  add(...faults: readonly Fault[]): void {
    this.#faults.push(...faults.map((fault) => ({ ...fault })));
  }

  clear(): void {
    this.#faults = [];
  }

  list(): readonly Fault[] {
    return this.#faults;
  }

  take(method: string, path: string): ActiveFaults {
    const matches = this.#faults.filter(
      (fault) => path.startsWith(fault.path ?? "/") && (fault.method === undefined || fault.method === method),
    );
    const delay = matches.find((fault) => fault.kind === "delay");
    const responseFault = matches.find((fault) => fault.kind !== "delay");
    this.#use(delay);
    this.#use(responseFault);
    return { delayMs: delay?.delay_ms ?? 0, responseFault };
  }

  #use(fault: Fault | undefined): void {
    if (fault?.times === undefined) return;
    fault.times -= 1;
    if (fault.times === 0) this.#faults = this.#faults.filter((other) => other !== fault);
  }
}

/** True if the request is processed although its response will be replaced. */
export const processesRequest = (fault: ResponseFault): boolean =>
  fault.kind === "drop_after_order" || ("takes_order" in fault && fault.takes_order === true);

export const sendFault = async (fault: ResponseFault, response: ServerResponse, headers: Headers): Promise<void> => {
  switch (fault.kind) {
    case "drop_after_order":
    case "drop_before_reading":
      response.destroy();
      return;
    case "status":
      return sendJson(response, { ...failure(fault.status), ...("body" in fault && { body: fault.body }) }, headers);
    case "rate_limited":
      return sendJson(response, failure(429), { ...headers, ...exhausted(fault.retry_after_s) });
    case "empty":
      return sendText(response, 200, { ...headers, "Content-Type": "application/json" }, "");
    case "html":
      return sendText(response, 200, { ...headers, "Content-Type": "text/html" }, "<html><h1>Back soon</h1></html>");
    case "custom":
      return sendText(response, fault.status, fault.headers ?? {}, fault.body);
    case "huge":
      return sendHuge(response, fault.bytes, headers);
  }
};

const exhausted = (retryAfterS: number): Headers => ({
  "X-RateLimit-Remaining": "0",
  "Retry-After": String(retryAfterS),
});

const failure = (status: number): JsonResponse => ({
  status,
  body: { status: false, message: "The request could not be completed." },
});

const sendText = (response: ServerResponse, status: number, headers: Headers, body: string): void => {
  if (response.destroyed) return;
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end(body);
};

const sendHuge = async (response: ServerResponse, bytes: number, headers: Headers): Promise<void> => {
  if (response.destroyed) return;
  response.writeHead(200, { ...headers, "Content-Type": "application/json", "Content-Length": String(bytes) });
  // The client is expected to disconnect before the end.
  await pipeline(Readable.from(chunksOf(bytes)), response).catch(() => response.destroy());
};

function* chunksOf(bytes: number): Generator<Buffer> {
  const chunk = Buffer.alloc(HUGE_CHUNK_BYTES, " ");
  for (let left = bytes; left > 0; left -= chunk.length) yield chunk.subarray(0, left);
}
