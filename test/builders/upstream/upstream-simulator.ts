import { createServer } from "node:http";
import { onTestFinished } from "vitest";
import * as z from "#zod";
import { profileOf } from "../../../shared/upstream/profile.ts";
import { listenOnLoopback } from "../../../tools/local/loopback.ts";
import { type SimulatorOptions, startSimulator } from "../../../tools/simulator/server.ts";

/** The simulator takes our reference with every order. */
export const PROFILE = profileOf({ reference: "all" });
export const LIVE_KEY = "live_upstream_key";
export const TEST_KEY = "test_upstream_key";
export const MTN_1GB = { network_id: 1, plan_id: 101 };
export const SOME_PHONE = "08031234567";

const fieldsSchema = z.record(z.string(), z.unknown());
/** A response of the upstream. */
export const bodySchema = z.object({
  status: z.boolean(),
  message: z.string(),
  errors: z.optional(z.record(z.string(), z.array(z.string()))),
  data: z.optional(z.partial(z.object({ transaction: fieldsSchema, result: z.record(z.string(), z.string()) }))),
});

/** A running simulator with a caller; the delays are short. */
export const aSimulator = async (options: Partial<SimulatorOptions> = {}) => {
  const simulator = await startSimulator({
    ...{ liveKey: LIVE_KEY, testKey: TEST_KEY, stallMs: 60, delayedOutcomeMs: 30 },
    ...options,
  });
  onTestFinished(() => simulator.stop());
  const fetchJson = async (url: string, init: RequestInit) => {
    const response = await fetch(url, init);
    const body: unknown = await response.json();
    return { status: response.status, headers: response.headers, body };
  };
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetchJson(`${simulator.baseUrl}${path}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${LIVE_KEY}`, "Content-Type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    return { ...answer, body: bodySchema.parse(answer.body) };
  };
  return {
    ...simulator,
    post,
    buy: (changes: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
      post("/vtu/data/purchase", { ...MTN_1GB, phone_number: SOME_PHONE, ...changes }, headers),
    check: (nin: string, changes: Record<string, unknown> = {}) =>
      post("/identity/nin/verify", { nin, is_consent: true, ...changes }),
    get: (path: string, headers: Record<string, string> = { "X-API-KEY": LIVE_KEY }) =>
      fetchJson(`${simulator.baseUrl}${path}`, { headers }),
    control: (method: string, path: string, body?: unknown) =>
      fetchJson(`${simulator.controlUrl}${path}`, {
        method,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
  };
};

/** A receiver of the upstream's webhooks. */
export const aWebhook = async () => {
  const received: { body: string; signature: unknown }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    received.push({ body: Buffer.concat(chunks).toString(), signature: request.headers["x-webhook-signature"] });
    response.end();
  });
  onTestFinished(() => server.close().closeAllConnections());
  const port = await listenOnLoopback(server);
  return { received, webhook: { url: `http://127.0.0.1:${port}/hook`, secret: "s3cret" } };
};
