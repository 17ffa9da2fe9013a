import { test } from "vitest";
import { runFuzz } from "../../lab/load/fuzz.ts";
import { runOutcomeQueue } from "../../lab/load/outcome-queue.ts";
import { runPurchases } from "../../lab/load/purchases.ts";

/** Short forms of the load runs; `npm run test:load` runs the long ones. */
test("100 purchases at concurrency 24, with replays and upstream faults, are all charged exactly once and accounted for", async () => {
  await runPurchases({ orders: 100, concurrency: 24, settles: false });
});

test("100 purchases while DynamoDB raises conflicts and holds items for up to 40 ms are all charged exactly once", async () => {
  const aws = { setting: "conflicts", seed: Date.now() % 1_000_000_000 } as const;
  await runPurchases({ orders: 100, concurrency: 24, settles: false, aws });
});

test("of 100 messages in the outcomes queue, valid ones are applied exactly once and invalid ones become dead letters", async () => {
  await runOutcomeQueue({ messages: 100, visibilityS: 2, receives: 3 });
});

test("300 hostile requests get responses of the interface, charge nothing wrongly and leave no personal data in the log", async () => {
  await runFuzz({ requests: 300, seed: 20_261_121 });
});
