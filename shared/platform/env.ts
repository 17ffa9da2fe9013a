import * as z from "zod";
import { dateOrders } from "../contract/date-order.ts";
import type { SecretVariable } from "./secret-table.ts";

/**
 * Longer than the days of webhook retries (five, and the time that parked deliveries take after them) and the 30 days
 * of `admin announce`: both send the unmasked number.
 */
export const PHONE_RETENTION_DAYS_MIN = 35;

/** An order that waits for longer is worth nothing to its caller. */
export const WAITING_MINUTES_MAX = 24 * 60;

/** Every environment variable that a function can read, except the ids of secrets: secret-table.ts has those. */
export const environment = z.object({
  ACCESS_TABLE: z.string().min(1),
  LEDGER_TABLE: z.string().min(1),
  CACHE_TABLE: z.string().min(1),
  OUTCOMES_QUEUE_URL: z.url(),
  DELIVERY_QUEUE_URL: z.url(),
  /** Addresses and CIDR ranges from which the upstream sends its events, comma-separated; may be empty. */
  UPSTREAM_WEBHOOK_IPS: z.string(),
  /**
   * How the upstream signs its events, as JSON (shared/upstream-events/upstream-signature.ts); empty if signatures are
   * not checked.
   */
  UPSTREAM_SIGNATURE: z.string(),
  /** Base URL of the upstream, `/v1` included. */
  UPSTREAM_BASE_URL: z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, "")),
  /** Private ranges that webhooks may reach, also over plain http and at any port; comma-separated, may be empty. */
  WEBHOOK_ALLOWED_CIDRS: z.string(),
  /** Hosts of the service and the upstream, which no webhook may call; comma-separated, may be empty. */
  WEBHOOK_REFUSED_HOSTS: z.string(),
  /** Which number comes first in the upstream's dates, such as `01/02/1990` (shared/identity/read-date.ts). */
  UPSTREAM_DATES: z.enum(dateOrders),
  /** Prices of identity requests in NGN, as JSON (shared/identity/prices.ts). */
  IDENTITY_PRICES: z.string().min(1),
  /** Largest airtime top-up, NGN. */
  AIRTIME_NAIRA_MAX: z.coerce.number().int().positive(),
  /** A transaction's phone number is masked after this many days (shared/reconciliation/phone-retention.ts). */
  PHONE_RETENTION_DAYS: z.coerce.number().int().min(PHONE_RETENTION_DAYS_MIN),
  /**
   * What holds until an operator switches purchases for the first time (shared/orders/purchases-switch.ts): `off` in a
   * stage that adopts a ledger.
   */
  PURCHASES_INITIALLY: z.enum(["on", "off"]),
  /** How long an order may wait for the upstream's limit; 0 if no order waits. */
  WAITING_MINUTES: z.coerce.number().int().min(0).max(WAITING_MINUTES_MAX),
  /** `off` stops background changes of the ledger. The doctor of the console and of the admin commands says so. */
  WORKERS: z.enum(["on", "off"]),
  /** `no`: the stage serves test keys only. Empty if it has no console, whose functions alone read it. */
  SELLS: z.enum(["yes", "no", ""]),
  /** The stage's setting `console`, as JSON (shared/console/console-settings.ts); empty if it has no console. */
  CONSOLE: z.string(),
  /** `sdk` switches the short path of DynamoDB calls off everywhere (shared/platform/dynamodb/short-path.ts). */
  AWS_CALLS: z.enum(["short", "sdk"]).default("short"),
});

/** The text of every variable of a stage. */
export type FunctionEnvironment = Readonly<Record<keyof typeof environment.shape | SecretVariable, string>>;

const secretId = z.string().min(1);
type SecretIds = Partial<Record<SecretVariable, typeof secretId>>;

/** The variables of each function: its handler parses them, and the stack sets them and no others. */
export const functionEnvironments = {
  "enqueue-webhooks": environment.pick({ DELIVERY_QUEUE_URL: true }),
  "apply-upstream-event": environment
    .pick({ LEDGER_TABLE: true, OUTCOMES_QUEUE_URL: true, AWS_CALLS: true })
    .extend({ REFERENCE_KEY_SECRET_ID: secretId } satisfies SecretIds),
  "check-identity": environment
    .pick({
      ACCESS_TABLE: true,
      LEDGER_TABLE: true,
      CACHE_TABLE: true,
      OUTCOMES_QUEUE_URL: true,
      UPSTREAM_BASE_URL: true,
      IDENTITY_PRICES: true,
      UPSTREAM_DATES: true,
      PURCHASES_INITIALLY: true,
      AWS_CALLS: true,
    })
    .extend({
      UPSTREAM_KEY_SECRET_ID: secretId,
      REFERENCE_KEY_SECRET_ID: secretId,
      REPLAY_KEY_SECRET_ID: secretId,
    } satisfies SecretIds),
  "deliver-webhook": environment
    .pick({
      LEDGER_TABLE: true,
      DELIVERY_QUEUE_URL: true,
      WEBHOOK_ALLOWED_CIDRS: true,
      WEBHOOK_REFUSED_HOSTS: true,
      AWS_CALLS: true,
    })
    .extend({ WEBHOOK_KEY_SECRET_ID: secretId } satisfies SecretIds),
  "list-catalog": environment.pick({ ACCESS_TABLE: true, CACHE_TABLE: true, AWS_CALLS: true }),
  purchase: environment
    .pick({
      ACCESS_TABLE: true,
      LEDGER_TABLE: true,
      CACHE_TABLE: true,
      OUTCOMES_QUEUE_URL: true,
      UPSTREAM_BASE_URL: true,
      AIRTIME_NAIRA_MAX: true,
      PURCHASES_INITIALLY: true,
      WAITING_MINUTES: true,
      AWS_CALLS: true,
    })
    .extend({ UPSTREAM_KEY_SECRET_ID: secretId, REFERENCE_KEY_SECRET_ID: secretId } satisfies SecretIds),
  "read-account": environment
    .pick({ ACCESS_TABLE: true, LEDGER_TABLE: true, AWS_CALLS: true })
    .extend({ REFERENCE_KEY_SECRET_ID: secretId } satisfies SecretIds),
  "receive-upstream-event": environment
    .pick({ OUTCOMES_QUEUE_URL: true, UPSTREAM_SIGNATURE: true, UPSTREAM_WEBHOOK_IPS: true })
    .extend({
      REFERENCE_KEY_SECRET_ID: secretId,
      WEBHOOK_TOKEN_SECRET_ID: secretId,
      UPSTREAM_HMAC_SECRET_ID: secretId,
    } satisfies SecretIds),
  "refresh-catalog": environment
    .pick({ LEDGER_TABLE: true, CACHE_TABLE: true, DELIVERY_QUEUE_URL: true, UPSTREAM_BASE_URL: true, AWS_CALLS: true })
    .extend({ UPSTREAM_KEY_SECRET_ID: secretId } satisfies SecretIds),
  "send-waiting-orders": environment
    .pick({
      LEDGER_TABLE: true,
      CACHE_TABLE: true,
      OUTCOMES_QUEUE_URL: true,
      UPSTREAM_BASE_URL: true,
      PURCHASES_INITIALLY: true,
      WAITING_MINUTES: true,
      AWS_CALLS: true,
    })
    .extend({ UPSTREAM_KEY_SECRET_ID: secretId } satisfies SecretIds),
  "console-api": environment
    .pick({
      ACCESS_TABLE: true,
      LEDGER_TABLE: true,
      CACHE_TABLE: true,
      OUTCOMES_QUEUE_URL: true,
      DELIVERY_QUEUE_URL: true,
      WEBHOOK_ALLOWED_CIDRS: true,
      WEBHOOK_REFUSED_HOSTS: true,
      PURCHASES_INITIALLY: true,
      WAITING_MINUTES: true,
      WORKERS: true,
      SELLS: true,
      CONSOLE: true,
      AWS_CALLS: true,
    })
    .extend({ REFERENCE_KEY_SECRET_ID: secretId, WEBHOOK_KEY_SECRET_ID: secretId } satisfies SecretIds),
  "serve-console": environment.pick({ CONSOLE: true }),
  "count-transactions": environment.pick({ CACHE_TABLE: true, AWS_CALLS: true }),
  "requeue-deliveries": environment.pick({ LEDGER_TABLE: true, DELIVERY_QUEUE_URL: true, AWS_CALLS: true }),
  "reconcile-ledger": environment.pick({ LEDGER_TABLE: true, PHONE_RETENTION_DAYS: true, AWS_CALLS: true }),
} as const;

/** Parses a function's environment; a missing or malformed variable fails the cold start and is named in the error. */
export const readEnv = <Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>): z.output<z.ZodObject<Shape>> => {
  const parsed = schema.safeParse(process.env);
  if (parsed.success) return parsed.data;
  throw new Error(`The environment is not complete.\n${z.prettifyError(parsed.error)}`);
};
