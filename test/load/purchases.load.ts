import { test } from "vitest";
import { chosenSettings } from "../strict/settings.ts";
import { runPurchases } from "./purchases.ts";

const SEED = Number(process.env.LOAD_SEED ?? Date.now() % 1_000_000_000);
/** The emulator as it is gets the long run. */
const ORDERS = { perfect: 10_000, strict: 1_500 };

test.each(chosenSettings())(
  "of thousands of purchases at concurrency 64, with repeats and an upstream in upstreamFault, none is lost, double or unexplained (AWS: %s)",
  async (setting) => {
    const orders = setting === "perfect" ? ORDERS.perfect : ORDERS.strict;
    await runPurchases({ orders, concurrency: 64, settles: true, aws: { setting, seed: SEED } });
  },
);
