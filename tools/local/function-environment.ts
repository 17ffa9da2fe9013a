import { settingsValues } from "../../infra/constructs/function-environment.ts";
import { settingsOf } from "../../infra/stage-settings.ts";
import { fourEyesSettings } from "../../shared/actions/four-eyes.ts";
import type { ConsoleSettings } from "../../shared/console/console-settings.ts";
import type { FunctionEnvironment } from "../../shared/platform/env.ts";
import { secretIds } from "../../shared/platform/secret-table.ts";
import type { ProfileChanges } from "../../shared/upstream/profile.ts";
import type { SimulatorOptions } from "../simulator/server.ts";
import { SIMULATOR_SIGNATURE } from "../simulator/webhooks.ts";
import { ACCOUNT_ID, IDENTITY_KEY_ARN, REGION } from "./local-aws.ts";
import type { LocalQueues } from "./queues.ts";
import type { Settings } from "./settings.ts";
import { localTableNames, type TableNames } from "./tables.ts";

const LOOPBACK = ["127.0.0.0/8", "::1/128"];

/**
 * The profile of a simulator, which signs its events. Unless a test says otherwise, every order has our reference, but
 * at a strict simulator only those for which the document shows it.
 */
export const simulatorProfile = ({
  manner,
  references = manner === "strict" ? "documented" : "all",
  virtualNin = false,
}: Pick<SimulatorOptions, "manner" | "references" | "virtualNin"> = {}) =>
  ({
    reference: references,
    virtual_nin: virtualNin,
    signature: SIMULATOR_SIGNATURE,
    lookup: { path: "/transactions/{reference}", our_reference: "client_reference" },
    balance: { path: "/wallet", object: "wallet" },
  }) satisfies ProfileChanges;

/** The settings of a stage that sells, with their defaults. Nothing is deployed with them. */
const stageDefaults = () =>
  settingsOf("local", {
    local: {
      upstreamBaseUrl: "https://localhost/v1",
      identityPrices: {
        nin: { basic: 150, advanced: 250, retrieve: 400 },
        bvn: { basic: 100, advanced: 200, retrieve: 300 },
      },
      // Made up, so that costs and margins are seen.
      upstreamCosts: {
        discounts: [
          { kind: "airtime", percent: 3 },
          { kind: "data", percent: 4 },
        ],
      },
      upstreamWebhookIps: LOOPBACK,
      upstreamProfile: simulatorProfile(),
      webhookAllowedCidrs: LOOPBACK,
      account: ACCOUNT_ID,
      region: REGION,
      egress: { kind: "nat-gateway", zones: [`${REGION}a`] },
      alarmEmail: "alarms@example.com",
    },
  });

/** More than an amount can be: money of this machine is made up. */
const UNBOUNDED_NAIRA = 10_000_000_000;

/** The environment variables of all functions, made from settings as those of a stage are. */
export const functionEnvironment = ({
  settings: { workers = "on", awsCalls = "short", fourEyes = false },
  gatewayOrigin,
  upstream,
  sqs,
  topicArn = "",
  console,
  tables = localTableNames,
}: {
  readonly settings: Partial<Pick<Settings, "workers" | "awsCalls">> & { readonly fourEyes?: boolean };
  readonly gatewayOrigin: string;
  readonly upstream: { readonly baseUrl: string; readonly profile: ProfileChanges };
  readonly sqs: Pick<LocalQueues, "url">;
  /** The topic of notifications. */
  readonly topicArn?: string;
  readonly console?: ConsoleSettings;
  readonly tables?: TableNames;
}): FunctionEnvironment => {
  const settings = {
    ...stageDefaults(),
    upstreamBaseUrl: upstream.baseUrl,
    upstreamProfile: upstream.profile,
    workers,
    awsCalls,
    operatorActMaxNaira: UNBOUNDED_NAIRA,
    ...(console && { console }),
    ...(fourEyes && { fourEyes: fourEyesSettings.parse({}) }),
  };
  return {
    ACCESS_TABLE: tables.access,
    LEDGER_TABLE: tables.ledger,
    AUDIT_TABLE: tables.audit,
    CACHE_TABLE: tables.cache,
    AUDIT_COPY_BUCKET: "",
    OUTCOMES_QUEUE_URL: sqs.url("outcomes"),
    DELIVERY_QUEUE_URL: sqs.url("delivery"),
    NOTIFICATIONS_TOPIC_ARN: topicArn,
    CALLERS_URL: "",
    CONSOLE_URL: `${gatewayOrigin}/console`,
    ...secretIds((name) => name),
    IDENTITY_KEY_ARN,
    ...settingsValues(settings, [new URL(gatewayOrigin).host]),
  };
};
