import { test } from "vitest";
import { runPurchases } from "./purchases.ts";

test("of 10,000 purchases at concurrency 64, with repeats and an upstream in trouble, none is lost, double or unexplained", async () => {
  await runPurchases({ orders: 10_000, concurrency: 64, settles: true });
});
