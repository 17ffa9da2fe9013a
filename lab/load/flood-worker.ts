import { parentPort, workerData } from "node:worker_threads";
import * as z from "zod";
import { createClient, orderRequest } from "./client.ts";
import { tally } from "./results.ts";

/** Floods from a thread of its own, so that it does not distort the durations of the valid caller. */
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
    const reply = await client.send(orderRequest("/vtu/airtime/purchase", key, body));
    answers.push(reply.kind === "answered" ? `${reply.status} ${reply.headers["x-error-code"]}` : reply.reason);
  }
};
await Promise.all(Array.from({ length: concurrency }, lane));
client.close();
parentPort?.postMessage(tally(answers));
