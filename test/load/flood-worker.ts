import { parentPort, workerData } from "node:worker_threads";
import * as z from "zod";
import { createClient, order } from "./client.ts";
import { tally } from "./results.ts";

/** A thread of its own floods, so that the healthy caller's clock does not wait for it. */
const flood = z.object({
  baseUrl: z.string(),
  keys: z.array(z.string()).min(1),
  concurrency: z.int(),
  seconds: z.number(),
});

const { baseUrl, keys, concurrency, seconds } = flood.parse(workerData);
const client = createClient(baseUrl);
const endMs = performance.now() + seconds * 1_000;
const answers: string[] = [];

const lane = async (): Promise<void> => {
  while (performance.now() < endMs) {
    const key = keys[answers.length % keys.length] ?? "";
    const body = { network: "mtn", amount: 50, phone_number: "08031234567" };
    const reply = await client.send(order("/vtu/airtime/purchase", key, body));
    answers.push(reply.kind === "answered" ? `${reply.status} ${reply.headers["x-error-code"]}` : reply.reason);
  }
};
await Promise.all(Array.from({ length: concurrency }, lane));
client.close();
parentPort?.postMessage(tally(answers));
