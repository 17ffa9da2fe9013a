import { settingsValues } from "../../infra/constructs/function-environment.ts";
import { settingsOf } from "../../infra/stages.ts";
import type { ConsoleSettings } from "../../shared/console/console-settings.ts";
import type { FunctionEnvironment } from "../../shared/platform/env.ts";
import { secretIds } from "../../shared/platform/secret-table.ts";
import { SIMULATOR_SIGNATURE } from "../simulator/webhooks.ts";
import { ACCOUNT_ID, REGION } from "./local-aws.ts";
import type { LocalQueues } from "./queues.ts";
import type { Settings } from "./settings.ts";
import { localTableNames } from "./tables.ts";

const LOOPBACK = ["127.0.0.0/8", "::1/128"];

/** The settings of a stage that sells, with their defaults. Nothing is deployed with them. */
const stageDefaults = () =>
  settingsOf("local", {
    local: {
      upstreamBaseUrl: "https://localhost/v1",
      identityPrices: {
        nin: { basic: 150, advanced: 250, retrieve: 400 },
        bvn: { basic: 100, advanced: 200, retrieve: 300 },
      },
      upstreamWebhookIps: LOOPBACK,
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
  settings: { workers = "on", awsCalls = "short" },
  gatewayOrigin,
  upstream,
  sqs,
  console,
}: {
  readonly settings: Partial<Pick<Settings, "workers" | "awsCalls">>;
  readonly gatewayOrigin: string;
  readonly upstream: { readonly baseUrl: string; readonly isSimulated: boolean };
  readonly sqs: Pick<LocalQueues, "url">;
  readonly console?: ConsoleSettings;
}): FunctionEnvironment => {
  const settings = {
    ...stageDefaults(),
    upstreamBaseUrl: upstream.baseUrl,
    // How a real upstream signs its events is not known: docs/interface.md 17.D1.
    ...(upstream.isSimulated && { upstreamSignature: SIMULATOR_SIGNATURE }),
    workers,
    awsCalls,
    operatorActMaxNaira: UNBOUNDED_NAIRA,
    ...(console && { console }),
  };
  return {
    ACCESS_TABLE: localTableNames.access,
    LEDGER_TABLE: localTableNames.ledger,
    CACHE_TABLE: localTableNames.cache,
    OUTCOMES_QUEUE_URL: sqs.url("outcomes"),
    DELIVERY_QUEUE_URL: sqs.url("delivery"),
    ...secretIds((name) => name),
    ...settingsValues(settings, [new URL(gatewayOrigin).host]),
  };
};
