import { subjectsRuns } from "../../shared/actions/subjects.ts";
import { consoleHandler } from "../../shared/console/console-handler.ts";
import { parseConsoleSettings } from "../../shared/console/console-settings.ts";
import { subjectsActions } from "../../shared/contract/actions/subjects.ts";
import { subjectHashing } from "../../shared/identity/subject-hash.ts";
import { checkReferenceKey } from "../../shared/ledger/reference-key.ts";
import { documentClient, keysClient, secretsClient } from "../../shared/platform/aws-clients.ts";
import { readEnv } from "../../shared/platform/env.ts";
import { loadKeyedHashes } from "../../shared/platform/keyed-hashes.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { answerSubjectsSpec } from "../specs.ts";

const env = readEnv(answerSubjectsSpec.environment);
const db = documentClient();
const ledger = { db, table: env.LEDGER_TABLE, auditTable: env.AUDIT_TABLE, clock: systemClock };
const referenceKey = secret(secretsClient(), env.REFERENCE_KEY_SECRET_ID);

/** What people ask about themselves. Its role may use the identity key, and writes neither wallets nor accounts. */
export const handler = consoleHandler(
  subjectsActions,
  subjectsRuns,
  env.CONSOLE === "" ? undefined : parseConsoleSettings(env.CONSOLE),
  {
    ledger,
    cache: { db, table: env.CACHE_TABLE },
    keyedHashes: loadKeyedHashes(referenceKey, checkReferenceKey(ledger, "ignore")),
    hashSubject: subjectHashing(keysClient(), env.IDENTITY_KEY_ARN),
  },
);
