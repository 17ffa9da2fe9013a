import * as z from "zod";
import type { SecretVariable } from "./secret-table.ts";

/** An order that waits for longer is worth nothing to its caller. */
export const QUEUE_MINUTES_MAX = 24 * 60;

const text = z.string().min(1);
const anyText = z.string();
const url = z.url();
const positive = z.coerce.number().int().positive();
const onOrOff = z.enum(["on", "off"]);

/** Longer than webhook retries (5 days and parked deliveries) and `admin announce` (30 days): both send the number. */
const PHONE_RETENTION_DAYS_MIN = 35;
/** A return to the Commission is about a year, and its consents must be there. */
const CONSENT_RETENTION_DAYS_MIN = 365;

/**
 * The settings of a stage that functions read as they are: infra/stage-settings.ts has them among its own. Each is the
 * variable of its name: `floatAlarmHours` is FLOAT_ALARM_HOURS.
 */
export const functionSettings = {
  /** NGN. The most that an operator credits or takes at once: who needs more asks for a deployment. */
  operatorActMaxNaira: z.int().min(1).default(5_000_000),
  /** An alarm is raised if what was paid to the upstream lasts for fewer hours, at the pace of the last 24. */
  floatAlarmHours: z.int().min(1).max(720).default(12),
  /** Phone numbers of settled transactions are masked after this many days. */
  phoneRetentionDays: z.int().min(PHONE_RETENTION_DAYS_MIN).default(400),
  /** Consents lose the person's hash, purpose and evidence after this many days: six years, as claims last. */
  consentRetentionDays: z
    .int()
    .min(CONSENT_RETENTION_DAYS_MIN, `Consents are kept for at least ${CONSENT_RETENTION_DAYS_MIN} days`)
    .default(2_190),
  /**
   * `off` stops all background changes of the ledger; for restoring a ledger. Messages wait in their queues, and
   * abandoned checks are not refunded.
   */
  workers: onOrOff.default("on"),
  /** `sdk` has the SDK send all calls of functions to AWS, without the short path (decision 0025). */
  awsCalls: z.enum(["short", "sdk"]).default("short"),
};

/** A variable has the number of a setting as text, and there must be one. */
const numberOf = (setting: z.ZodDefault<z.ZodInt>) => z.coerce.number().pipe(setting.unwrap());

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
  /** Where people open the console; empty in a stage without one. */
  CONSOLE_URL: anyText,
  /** Addresses and CIDR ranges from which the upstream sends its events, comma-separated; may be empty. */
  UPSTREAM_WEBHOOK_IPS: anyText,
  /** Base URL of the upstream, `/v1` included. */
  UPSTREAM_BASE_URL: z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, "")),
  /** How the upstream differs from the document, as JSON (shared/upstream/profile.ts). */
  UPSTREAM_PROFILE: text,
  /** Private ranges that webhooks may reach, also over plain http and at any port; comma-separated, may be empty. */
  WEBHOOK_ALLOWED_CIDRS: anyText,
  /** Hosts of the service and the upstream, which no webhook may call; comma-separated, may be empty. */
  WEBHOOK_REFUSED_HOSTS: anyText,
  /** The key in KMS that hashes the numbers of identity checks. */
  IDENTITY_KEY_ARN: z.string().startsWith("arn:"),
  /** Prices of identity requests in NGN, as JSON (shared/identity/identity-prices.ts). */
  IDENTITY_PRICES: text,
  /** What the upstream's `amount` is, and what orders cost, as JSON (shared/ledger/upstream-costs.ts). */
  UPSTREAM_COSTS: text,
  /** Largest airtime top-up, NGN. */
  AIRTIME_NAIRA_MAX: positive,
  OPERATOR_ACT_MAX_NAIRA: numberOf(functionSettings.operatorActMaxNaira),
  /** The stage's setting `fourEyes`, as JSON (shared/actions/four-eyes.ts); empty if one person may do everything. */
  FOUR_EYES: anyText,
  FLOAT_ALARM_HOURS: numberOf(functionSettings.floatAlarmHours),
  /** Where days and months of statements, periods and charts begin. */
  TIME_ZONE: text,
  PHONE_RETENTION_DAYS: numberOf(functionSettings.phoneRetentionDays),
  CONSENT_RETENTION_DAYS: numberOf(functionSettings.consentRetentionDays),
  /**
   * What holds until an operator switches purchases for the first time (shared/orders/purchases-switch.ts): `off` in a
   * stage that adopts a ledger.
   */
  PURCHASES_INITIALLY: onOrOff,
  /** How long an order may wait for the upstream's limit; 0 if no order waits. */
  QUEUE_MINUTES: z.coerce.number().int().min(0).max(QUEUE_MINUTES_MAX),
  WORKERS: functionSettings.workers.unwrap(),
  /** `no`: the stage serves test keys only. */
  SELLS: z.enum(["yes", "no"]),
  /** The stage's setting `console`, as JSON (shared/console/console-settings.ts); empty if it has no console. */
  CONSOLE: anyText,
  /** Tools have none (shared/platform/aws/short-path.ts). */
  AWS_CALLS: functionSettings.awsCalls,
});

type Variables = z.output<typeof environment> & Readonly<Record<SecretVariable, string>>;
export type Variable = keyof Variables;

/** The text of every variable of a stage. */
export type FunctionEnvironment = Readonly<Record<Variable, string>>;

/** How the text of a variable is read. */
export const variableSchema = (name: Variable): z.ZodType => (isSecret(name) ? text : environment.shape[name]);
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
