import { createAdmission } from "../../shared/access/admission.ts";
import { loadChecksumKey } from "../../shared/access/checksum-key.ts";
import { readAccountRoutes } from "../../shared/contract/routes.ts";
import { apiHandler } from "../../shared/lambda/api-handler.ts";
import { checkReferenceKey } from "../../shared/ledger/reference-key.ts";
import { documentClient, secretsClient } from "../../shared/platform/aws-clients.ts";
import { readEnv } from "../../shared/platform/env.ts";
import { loadKeyedHashes } from "../../shared/platform/keyed-hashes.ts";
import { preload } from "../../shared/platform/preload.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { getTransaction, getWallet, listCallerTransactions } from "../../shared/read-account/read-account.ts";
import { readAccountSpec } from "../specs.ts";

const env = readEnv(readAccountSpec.environment);
const db = documentClient();
const ledger = { db, table: env.LEDGER_TABLE, clock: systemClock };
const secrets = secretsClient();
const referenceKey = secret(secrets, env.REFERENCE_KEY_SECRET_ID);
const keyedHashes = loadKeyedHashes(referenceKey, checkReferenceKey(ledger, "ignore"));
const checksumKey = loadChecksumKey(secret(secrets, env.CHECKSUM_KEY_SECRET_ID));
await preload(checksumKey);

/** The wallet and the transactions of the caller's account. */
export const handler = apiHandler(readAccountRoutes, createAdmission(db, env.ACCESS_TABLE, checksumKey), {
  getWallet: getWallet(ledger),
  getTransaction: getTransaction(ledger, keyedHashes),
  listTransactions: listCallerTransactions(ledger),
});
