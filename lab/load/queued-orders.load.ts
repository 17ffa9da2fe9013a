import { test } from "vitest";
import { runQueuedOrders } from "./queued-orders.ts";

test("1,000 orders of 20 accounts, against a limit of 60 a minute, are each sent once, in order and by fair turns", async () => {
  await runQueuedOrders({ orders: 1_000, disturbed: false });
});

test("1,000 orders of 20 accounts are accounted for while the upstream fails 1 in 20 and the service is killed", async () => {
  await runQueuedOrders({ orders: 1_000, disturbed: true });
});
