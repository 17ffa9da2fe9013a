import { test } from "vitest";
import { runFuzz } from "../../lab/load/fuzz.ts";
import { runOutcomeQueue } from "../../lab/load/outcome-queue.ts";
import { runPurchases } from "../../lab/load/purchases.ts";

/** Short forms of the load runs; `npm run test:load` runs the long ones. */
const SEED = Number(process.env.LOAD_SEED ?? Date.now() % 1_000_000_000);

test("60 purchases at concurrency 24, with replays, upstream faults, and conflicts and holds of DynamoDB, are all charged exactly once", async () => {
  const aws = { setting: "conflicts", seed: SEED } as const;
  await runPurchases({ orders: 60, concurrency: 24, settles: false, aws });
});

// One of the two in each run, as its seed says.
if (SEED % 2 === 0) {
  test("of 100 messages in the outcomes queue, valid ones are applied exactly once and invalid ones become dead letters", async () => {
    await runOutcomeQueue({ messages: 100, visibilityS: 2, receives: 2 });
  });
} else {
  test("150 hostile requests get responses of the interface, charge nothing wrongly and leave no personal data in the log", async () => {
    await runFuzz({ requests: 150, seed: 20_261_121 });
  });
}
