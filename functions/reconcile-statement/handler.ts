import { reconciliationRuns } from "../../shared/actions/reconciliation.ts";
import { consoleHandler } from "../../shared/console/console-handler.ts";
import { parseConsoleSettings } from "../../shared/console/console-settings.ts";
import { reconciliationActions } from "../../shared/contract/actions/reconciliation.ts";
import { checkReferenceKey } from "../../shared/ledger/reference-key.ts";
import { parseUpstreamCosts } from "../../shared/ledger/upstream-costs.ts";
import { documentClient, secretsClient } from "../../shared/platform/aws-clients.ts";
import { readEnv } from "../../shared/platform/env.ts";
import { loadKeyedHashes } from "../../shared/platform/keyed-hashes.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { reconcileStatementSpec } from "../specs.ts";

const env = readEnv(reconcileStatementSpec.environment);
const ledger = { db: documentClient(), table: env.LEDGER_TABLE, auditTable: env.AUDIT_TABLE, clock: systemClock };
const referenceKey = secret(secretsClient(), env.REFERENCE_KEY_SECRET_ID);

/** Rows of a statement are sent by the thousand. */
const BODY_BYTES_MAX = 2 * 1_024 * 1_024;

/** The actions on the upstream's statements. Its role writes neither wallets nor transactions. */
export const handler = consoleHandler(
  reconciliationActions,
  reconciliationRuns,
  env.CONSOLE === "" ? undefined : parseConsoleSettings(env.CONSOLE),
  {
    ledger,
    costs: parseUpstreamCosts(env.UPSTREAM_COSTS),
    queueMinutes: env.QUEUE_MINUTES,
    keyedHashes: loadKeyedHashes(referenceKey, checkReferenceKey(ledger, "ignore")),
  },
  { bodyBytesMax: BODY_BYTES_MAX },
);
