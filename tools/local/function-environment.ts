import type { ConsoleSettings } from "../../shared/console/console-settings.ts";
import type { FunctionEnvironment } from "../../shared/platform/env.ts";
import { secretIds } from "../../shared/platform/secret-table.ts";
import { SIMULATOR_SIGNATURE } from "../simulator/webhooks.ts";
import type { LocalQueues } from "./queues.ts";
import type { Settings } from "./settings.ts";
import { localTableNames } from "./tables.ts";

const LOOPBACK = "127.0.0.0/8,::1/128";
const IDENTITY_PRICES_NAIRA = {
  nin: { basic: 150, advanced: 250, retrieve: 400 },
  bvn: { basic: 100, advanced: 200, retrieve: 300 },
};

/** The environment variables of all functions; on AWS, a stage's settings and stacks set them. */
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
}): FunctionEnvironment => ({
  ACCESS_TABLE: localTableNames.access,
  LEDGER_TABLE: localTableNames.ledger,
  CACHE_TABLE: localTableNames.cache,
  OUTCOMES_QUEUE_URL: sqs.url("outcomes"),
  DELIVERY_QUEUE_URL: sqs.url("delivery"),
  ...secretIds((name) => name),
  UPSTREAM_BASE_URL: upstream.baseUrl,
  WEBHOOK_ALLOWED_CIDRS: LOOPBACK,
  WEBHOOK_REFUSED_HOSTS: [gatewayOrigin, upstream.baseUrl].map((url) => new URL(url).host).join(),
  IDENTITY_PRICES: JSON.stringify(IDENTITY_PRICES_NAIRA),
  UPSTREAM_DATES: "day-first",
  AIRTIME_NAIRA_MAX: "50000",
  PHONE_RETENTION_DAYS: "400",
  PURCHASES_INITIALLY: "on",
  WAITING_MINUTES: "15",
  CONSOLE: console === undefined ? "" : JSON.stringify(console),
  WORKERS: workers,
  SELLS: "yes",
  AWS_CALLS: awsCalls,
  // How a real upstream signs its events is not known: docs/interface.md 17.D1.
  UPSTREAM_SIGNATURE: upstream.isSimulated ? JSON.stringify(SIMULATOR_SIGNATURE) : "",
  UPSTREAM_WEBHOOK_IPS: LOOPBACK,
});
