import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import * as z from "zod";
import { type Answer, type Headers, send } from "./wire.ts";

const HUGE_CHUNK_BYTES = 65_536;

/** `path` is a prefix below /v1, every path if absent; `times` is how many requests it meets, for ever if absent. */
const matching = {
  path: z.string().startsWith("/").optional(),
  method: z.enum(["GET", "POST"]).optional(),
  times: z.int().min(1).optional(),
};

/** `takesOrder`: the request is carried out as usual, and only its answer is lost. Otherwise it is not looked at. */
const answering = { ...matching, takesOrder: z.boolean().optional() };
const httpStatus = z.int().min(200).max(599);

export const faultSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("delay"), ...matching, delayMs: z.int().min(0) }),
  z.strictObject({ kind: z.literal("drop_after_order"), ...matching }),
  z.strictObject({ kind: z.literal("drop_before_reading"), ...matching }),
  z.strictObject({ kind: z.literal("status"), ...answering, status: httpStatus, body: z.unknown().optional() }),
  z.strictObject({ kind: z.literal("html"), ...answering }),
  z.strictObject({ kind: z.literal("rate_limited"), ...answering, retryAfterS: z.int().min(0) }),
  z.strictObject({ kind: z.literal("empty"), ...answering }),
  z.strictObject({ kind: z.literal("huge"), ...answering, bytes: z.int().min(1) }),
  z.strictObject({ kind: z.literal("unauthorized"), ...answering }),
  z.strictObject({
    kind: z.literal("custom"),
    ...answering,
    status: httpStatus,
    headers: z.record(z.string(), z.string()).optional(),
    body: z.string(),
  }),
]);

/** One way to misbehave. `custom` is sent exactly as given, without the rate-limit headers. */
export type Fault = z.infer<typeof faultSchema>;
type Delay = Extract<Fault, { kind: "delay" }>;
export type Breakage = Exclude<Fault, Delay>;

/** What one request meets: it can be slow and broken at once. */
export type Trouble = { delayMs: number; breakage: Breakage | undefined };

/** The faults still to come; the first that matches is used, and a delay can come together with one other. */
export class FaultPlan {
  #faults: Fault[] = [];

  /** `times` in the given fault is copied, never changed. */
  add(...faults: readonly Fault[]): void {
    this.#faults.push(...faults.map((fault) => ({ ...fault })));
  }

  clear(): void {
    this.#faults = [];
  }

  list(): readonly Fault[] {
    return this.#faults;
  }

  take(method: string, path: string): Trouble {
    const matches = this.#faults.filter(
      (fault) => path.startsWith(fault.path ?? "/") && (fault.method === undefined || fault.method === method),
    );
    const delay = matches.find((fault) => fault.kind === "delay");
    const breakage = matches.find((fault) => fault.kind !== "delay");
    this.#use(delay);
    this.#use(breakage);
    return { delayMs: delay?.delayMs ?? 0, breakage };
  }

  #use(fault: Fault | undefined): void {
    if (fault?.times === undefined) return;
    fault.times -= 1;
    if (fault.times === 0) this.#faults = this.#faults.filter((other) => other !== fault);
  }
}

/** True when the request is carried out although its answer will be lost. */
export function takesOrder(breakage: Breakage): boolean {
  return breakage.kind === "drop_after_order" || ("takesOrder" in breakage && breakage.takesOrder === true);
}

/** Answers as the fault says, instead of the real answer. */
export async function misbehave(breakage: Breakage, response: ServerResponse, headers: Headers): Promise<void> {
  switch (breakage.kind) {
    case "drop_after_order":
    case "drop_before_reading":
      response.destroy();
      return;
    case "status":
      return send(
        response,
        { ...envelope(breakage.status), ...("body" in breakage && { body: breakage.body }) },
        headers,
      );
    case "unauthorized":
      return send(response, envelope(401), headers);
    case "rate_limited":
      return send(response, envelope(429), { ...headers, ...exhausted(breakage.retryAfterS) });
    case "empty":
      return sendText(response, 200, { ...headers, "Content-Type": "application/json" }, "");
    case "html":
      return sendText(response, 200, { ...headers, "Content-Type": "text/html" }, "<html><h1>Back soon</h1></html>");
    case "custom":
      return sendText(response, breakage.status, breakage.headers ?? {}, breakage.body);
    case "huge":
      return sendHuge(response, breakage.bytes, headers);
  }
}

function exhausted(retryAfterS: number): Headers {
  return { "X-RateLimit-Remaining": "0", "Retry-After": String(retryAfterS) };
}

function envelope(status: number): Answer {
  return { status, body: { status: false, message: "The request could not be completed." } };
}

function sendText(response: ServerResponse, status: number, headers: Headers, body: string): void {
  if (response.destroyed) return;
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end(body);
}

async function sendHuge(response: ServerResponse, bytes: number, headers: Headers): Promise<void> {
  if (response.destroyed) return;
  response.writeHead(200, { ...headers, "Content-Type": "application/json", "Content-Length": String(bytes) });
  // The caller is expected to hang up half-way.
  await pipeline(Readable.from(chunksOf(bytes)), response).catch(() => response.destroy());
}

function* chunksOf(bytes: number): Generator<Buffer> {
  const chunk = Buffer.alloc(HUGE_CHUNK_BYTES, " ");
  for (let left = bytes; left > 0; left -= chunk.length) yield chunk.subarray(0, left);
}
