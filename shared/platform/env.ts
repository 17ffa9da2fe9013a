import * as z from "#zod";
import type { SecretVariable } from "./secret-table.ts";

/**
 * Longer than the days of webhook retries (five, and the time that parked deliveries take after them) and the 30 days
 * of `admin announce`: both send the unmasked number.
 */
export const PHONE_RETENTION_DAYS_MIN = 35;

/** A return to the Commission is about a year, and its consents must be there. */
export const CONSENT_RETENTION_DAYS_MIN = 365;

/** An order that waits for longer is worth nothing to its caller. */
export const QUEUE_MINUTES_MAX = 24 * 60;

const text = z.string().check(z.minLength(1));
const anyText = z.string();
const url = z.url();
const positive = z.coerce.number().check(z.int(), z.positive());
const onOrOff = z.enum(["on", "off"]);

/** Every environment variable that a function can read, except the ids of secrets: secret-table.ts has those. */
export const environment = z.object({
  ACCESS_TABLE: text,
  LEDGER_TABLE: text,
  AUDIT_TABLE: text,
  CACHE_TABLE: text,
  /** The bucket with the copy of the audit log; empty if there is none. */
  AUDIT_COPY_BUCKET: anyText,
  OUTCOMES_QUEUE_URL: url,
  DELIVERY_QUEUE_URL: url,
  /** The topic of notifications by e-mail; empty in a stage without a console. */
  NOTIFICATIONS_TOPIC_ARN: anyText,
  /** Base URL of callers, if they have an API of their own; empty otherwise. */
  CALLERS_URL: anyText,
  /** Where people open the console; empty in a stage without one. */
  CONSOLE_URL: anyText,
  /** Addresses and CIDR ranges from which the upstream sends its events, comma-separated; may be empty. */
  UPSTREAM_WEBHOOK_IPS: anyText,
  /** Base URL of the upstream, `/v1` included. */
  UPSTREAM_BASE_URL: z.pipe(
    z.url({ protocol: /^https?$/ }),
    z.transform((url) => url.replace(/\/+$/, "")),
  ),
  /** How the upstream differs from the document, as JSON (shared/upstream/profile.ts). */
  UPSTREAM_PROFILE: text,
  /** Private ranges that webhooks may reach, also over plain http and at any port; comma-separated, may be empty. */
  WEBHOOK_ALLOWED_CIDRS: anyText,
  /** Hosts of the service and the upstream, which no webhook may call; comma-separated, may be empty. */
  WEBHOOK_REFUSED_HOSTS: anyText,
  /** The key in KMS that hashes the numbers of identity checks. */
  IDENTITY_KEY_ARN: z.string().check(z.startsWith("arn:")),
  /** Prices of identity requests in NGN, as JSON (shared/identity/identity-prices.ts). */
  IDENTITY_PRICES: text,
  /** What the upstream's `amount` is, and what orders cost, as JSON (shared/ledger/upstream-costs.ts). */
  UPSTREAM_COSTS: text,
  /** Largest airtime top-up, NGN. */
  AIRTIME_NAIRA_MAX: positive,
  /** Largest amount of one funding or adjustment, NGN. */
  OPERATOR_ACT_MAX_NAIRA: positive,
  /** The stage's setting `fourEyes`, as JSON (shared/actions/four-eyes.ts); empty if one person may do everything. */
  FOUR_EYES: anyText,
  /** The float is low if it lasts for fewer hours. */
  FLOAT_ALARM_HOURS: positive,
  /** Where days and months of statements, periods and charts begin. */
  TIME_ZONE: text,
  /** A transaction's phone number is masked after this many days (shared/reconciliation/phone-retention.ts). */
  PHONE_RETENTION_DAYS: z.coerce.number().check(z.int(), z.minimum(PHONE_RETENTION_DAYS_MIN)),
  /** After this many days a consent no longer says whom a check was about, why, and how the person consented. */
  CONSENT_RETENTION_DAYS: z.coerce.number().check(z.int(), z.minimum(CONSENT_RETENTION_DAYS_MIN)),
  /**
   * What holds until an operator switches purchases for the first time (shared/orders/purchases-switch.ts): `off` in a
   * stage that adopts a ledger.
   */
  PURCHASES_INITIALLY: onOrOff,
  /** How long an order may wait for the upstream's limit; 0 if no order waits. */
  QUEUE_MINUTES: z.coerce.number().check(z.int(), z.minimum(0), z.maximum(QUEUE_MINUTES_MAX)),
  /** `off` stops background changes of the ledger. The doctor of the console and of the admin commands says so. */
  WORKERS: onOrOff,
  /** `no`: the stage serves test keys only. */
  SELLS: z.enum(["yes", "no"]),
  /** The stage's setting `console`, as JSON (shared/console/console-settings.ts); empty if it has no console. */
  CONSOLE: anyText,
  /** `sdk` has the SDK send all calls to AWS (shared/platform/aws/short-path.ts). */
  AWS_CALLS: z._default(z.enum(["short", "sdk"]), "short"),
});

type Variables = z.output<typeof environment> & Readonly<Record<SecretVariable, string>>;
export type Variable = keyof Variables;

/** The text of every variable of a stage. */
export type FunctionEnvironment = Readonly<Record<Variable, string>>;

/** How the text of a variable is read. */
export const variableSchema = (name: Variable): z.ZodMiniType => (isSecret(name) ? text : environment.shape[name]);
const isSecret = (name: Variable): name is SecretVariable => !(name in environment.shape);

/**
 * Parses the variables of a function, which are those of its spec. A missing or malformed one fails the cold start and
 * is named in the error.
 */
export const readEnv = <Name extends Variable>(names: readonly Name[]): Pick<Variables, Name> => {
  const schema = z.object(Object.fromEntries(names.map((name) => [name, variableSchema(name)])));
  const { data, error } = schema.safeParse(process.env);
  if (data !== undefined && hasAll(data, names)) return data;
  throw new Error(`The environment is not complete.\n${error && z.prettifyError(error)}`);
};
const hasAll = <Name extends Variable>(read: object, names: readonly Name[]): read is Pick<Variables, Name> =>
  names.every((name) => name in read);
