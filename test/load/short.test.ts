import { test } from "vitest";
import { runFuzz } from "./fuzz.ts";
import { runOutcomeQueue } from "./outcome-queue.ts";
import { runPurchases } from "./purchases.ts";

/** The load runs' short form; `npm run test:load` is the long one. */
test("of 400 purchases at concurrency 24, with repeats and an upstream in upstreamFault, none is lost, double or unexplained", {
  timeout: 120_000,
}, async () => {
  await runPurchases({ orders: 400, concurrency: 24, settles: false });
});

test("of 200 purchases while AWS raises conflicts and holds items for up to 40 ms, none is lost, double or unexplained", {
  timeout: 120_000,
}, async () => {
  const aws = { setting: "conflicts", seed: Date.now() % 1_000_000_000 } as const;
  await runPurchases({ orders: 200, concurrency: 24, settles: false, aws });
});

test("of 200 messages in the outcomes queue, all good ones are applied exactly once, and the unreadable 1 % become dead letters", {
  timeout: 120_000,
}, async () => {
  await runOutcomeQueue({ messages: 200, visibilityS: 2, receives: 3 });
});

test("1,500 hostile requests are all answered as the interface promises, charge nothing wrongly and leave nothing in the log", {
  timeout: 120_000,
}, async () => {
  await runFuzz({ requests: 1_500, seed: 20_261_121 });
});
