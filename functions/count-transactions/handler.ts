import { streamBatchHandler } from "../../shared/lambda/stream-handler.ts";
import { documentClient } from "../../shared/platform/aws-clients.ts";
import { readEnv } from "../../shared/platform/env.ts";
import { countTransactions } from "../../shared/statistics/count-transactions.ts";
import { countTransactionsSpec } from "../specs.ts";

const env = readEnv(countTransactionsSpec.environment);

/** Reads the ledger's stream, and adds to the statistics of the console. */
export const handler = streamBatchHandler(
  "changes.counted",
  countTransactions({ db: documentClient(), table: env.CACHE_TABLE, timeZone: env.TIME_ZONE }),
);
