import { documentClient } from "../../shared/platform/aws.ts";
import { environment, readEnv } from "../../shared/platform/env.ts";
import { queueHandler } from "../../shared/platform/queue-handler.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { applyStatus } from "../../shared/status/apply-status.ts";
import { statusMessage } from "../../shared/status/status-queue.ts";

const env = readEnv(environment.pick({ LEDGER_TABLE: true }));

/** Applies what the status queue tells about transactions. */
export const handler = queueHandler(
  statusMessage,
  applyStatus({ db: documentClient(), table: env.LEDGER_TABLE, clock: systemClock }),
);
