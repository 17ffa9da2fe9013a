import { parseFourEyes } from "../../shared/actions/four-eyes.ts";
import { propose } from "../../shared/actions/proposals.ts";
import { consoleRuns } from "../../shared/actions/runs.ts";
import { catalogStore } from "../../shared/catalog/catalog-store.ts";
import { consoleHandler } from "../../shared/console/console-handler.ts";
import { parseConsoleSettings } from "../../shared/console/console-settings.ts";
import { consoleActions } from "../../shared/contract/actions/actions.ts";
import { koboFromNaira } from "../../shared/contract/values/money.ts";
import { parseIdentityPrices } from "../../shared/identity/identity-prices.ts";
import { checkReferenceKey } from "../../shared/ledger/reference-key.ts";
import { parseUpstreamCosts } from "../../shared/ledger/upstream-costs.ts";
import { documentClient, secretsClient } from "../../shared/platform/aws-clients.ts";
import { readEnv } from "../../shared/platform/env.ts";
import { parseIpRanges } from "../../shared/platform/ip-range.ts";
import { loadKeyedHashes } from "../../shared/platform/keyed-hashes.ts";
import { LOCAL_STAGE, stageName } from "../../shared/platform/log.ts";
import { queueUrls } from "../../shared/platform/queue-names.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { parseUpstreamProfile } from "../../shared/upstream/profile.ts";
import { splitList, systemResolve } from "../../shared/webhooks/address-guard.ts";
import { consoleApiSpec } from "../specs.ts";

// Dead letters are received by the SDK.
const { openSns, openSqs } = await import("#aws-sdk");
const env = readEnv(consoleApiSpec.environment);
const db = documentClient();
const secrets = secretsClient();
const clock = systemClock;
const checksumKey = secret(secrets, env.CHECKSUM_KEY_SECRET_ID);
const accounts = { db, accessTable: env.ACCESS_TABLE, ledgerTable: env.LEDGER_TABLE, clock, checksumKey };
const ledger = { db, table: env.LEDGER_TABLE, auditTable: env.AUDIT_TABLE, clock };
const stage = stageName();

const consoleSettings = env.CONSOLE === "" ? undefined : parseConsoleSettings(env.CONSOLE);

/** The actions of the console, and of operators. */
export const handler = consoleHandler(
  consoleActions,
  consoleRuns,
  consoleSettings,
  {
    ledger,
    accounts,
    endpoints: { accounts, webhookSealingKey: secret(secrets, env.WEBHOOK_KEY_SECRET_ID), clock },
    addressRules: {
      allowed: parseIpRanges(env.WEBHOOK_ALLOWED_CIDRS),
      refusedHosts: splitList(env.WEBHOOK_REFUSED_HOSTS),
      resolve: systemResolve,
    },
    catalog: catalogStore(db, env.CACHE_TABLE),
    purchases: { db, table: env.CACHE_TABLE, initially: env.PURCHASES_INITIALLY },
    costs: parseUpstreamCosts(env.UPSTREAM_COSTS),
    identityPrices: parseIdentityPrices(env.IDENTITY_PRICES),
    probe: {
      baseUrl: env.UPSTREAM_BASE_URL,
      profile: parseUpstreamProfile(env.UPSTREAM_PROFILE),
      testKey: secret(secrets, env.UPSTREAM_TEST_KEY_SECRET_ID),
    },
    queueMinutes: env.QUEUE_MINUTES,
    operatorActMax: koboFromNaira(env.OPERATOR_ACT_MAX_NAIRA),
    fourEyes: parseFourEyes(env.FOUR_EYES, consoleSettings?.issuer),
    floatAlarmHours: env.FLOAT_ALARM_HOURS,
    timeZone: env.TIME_ZONE,
    facts: { sells: env.SELLS === "yes", workers: env.WORKERS, hasConsole: consoleSettings !== undefined },
    keyedHashes: loadKeyedHashes(secret(secrets, env.REFERENCE_KEY_SECRET_ID), checkReferenceKey(ledger, "ignore")),
    mail: env.NOTIFICATIONS_TOPIC_ARN === "" ? undefined : { sns: openSns(), arn: env.NOTIFICATIONS_TOPIC_ARN },
    sqs: openSqs(),
    queues: queueUrls({
      outcomes: env.OUTCOMES_QUEUE_URL,
      delivery: env.DELIVERY_QUEUE_URL,
      stage: stage === LOCAL_STAGE ? undefined : stage,
    }),
  },
  { propose },
);
