import { test } from "vitest";
import { chosenSettings } from "../../test/strict/settings.ts";
import { runPurchases } from "./purchases.ts";
import { share } from "./share.ts";

const SEED = Number(process.env.LOAD_SEED ?? Date.now() % 1_000_000_000);
/** Fewer with the strict layer, which is slower. */
const ORDERS = { perfect: share(10_000), strict: share(1_500) };

test.each(chosenSettings())(
  "thousands of purchases at concurrency 64, with replays and upstream faults, are all charged exactly once (DynamoDB: %s)",
  async (setting) => {
    const orders = setting === "perfect" ? ORDERS.perfect : ORDERS.strict;
    await runPurchases({ orders, concurrency: 64, settles: true, aws: { setting, seed: SEED } });
  },
);
