import { scheduleHandler } from "../../shared/lambda/schedule-handler.ts";
import { documentClient, queueClient } from "../../shared/platform/aws-clients.ts";
import { readEnv } from "../../shared/platform/env.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { deliveryQueue } from "../../shared/webhooks/delivery-queue.ts";
import { enqueueLowBalances } from "../../shared/webhooks/enqueue-low-balances.ts";
import { enqueueNearLimits } from "../../shared/webhooks/enqueue-near-limits.ts";
import { requeueDeliveries } from "../../shared/webhooks/requeue-deliveries.ts";
import { requeueDeliveriesSpec } from "../specs.ts";

const env = readEnv(requeueDeliveriesSpec.environment);
const db = documentClient();
const deps = {
  ledger: { db, table: env.LEDGER_TABLE, clock: systemClock },
  accounts: { db, ledgerTable: env.LEDGER_TABLE },
  queue: deliveryQueue(queueClient(), env.DELIVERY_QUEUE_URL),
};

/** Each minute: puts parked deliveries that are due back into the delivery queue, and enqueues `wallet.low` and `limit.near`. */
export const handler = scheduleHandler("requeue-deliveries.ran", async (deadline) => ({
  ...(await requeueDeliveries(deps, deadline)),
  low_balances: await enqueueLowBalances(deps, deadline),
  near_limits: await enqueueNearLimits(deps, deadline),
}));
