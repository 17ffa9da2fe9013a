import { parseArgs } from "node:util";
import * as z from "#zod";
import { SettingsError } from "../../infra/settings-error.ts";
import { jsonOf } from "../../shared/contract/values/json.ts";
import { fileProblem } from "../../shared/platform/file-problem.ts";
import { type ProfileChanges, profileChanges } from "../../shared/upstream/profile.ts";
import type { Manner } from "../simulator/manner.ts";

/** Works with a file or folder of a setting; its error says that the setting cannot be used. */
export const withSetting = <Result>(setting: string, work: () => Result): Result => {
  try {
    return work();
  } catch (error) {
    if (error instanceof SettingsError) throw error;
    const reason = error instanceof Error ? fileProblem(error) : String(error);
    throw new SettingsError(`${setting} cannot be used: ${reason}.`, { cause: error });
  }
};

/** `liveKey` is the text of the secret: one key per line. */
type UpstreamSettings = { readonly baseUrl: string; readonly liveKey: string; readonly profile: ProfileChanges };

/** The settings of `npm start`. */
export type Settings = {
  readonly port: number;
  readonly dataDir: string;
  readonly serviceFile: string;
  /** Delete the data of earlier runs first. */
  readonly fresh: boolean;
  /** How the simulator keeps to the document. */
  readonly manner: Manner;
  /** The simulator takes virtual NINs. */
  readonly virtualNin: boolean;
  /** By default the simulator. */
  readonly upstream?: UpstreamSettings;
  /** A DynamoDB that already runs; by default dynoxide is started. */
  readonly dynamodbEndpoint?: string;
  /** The same as the stage settings of these names. */
  readonly workers: "on" | "off";
  readonly awsCalls: "short" | "sdk";
  readonly requestsPerSecondMax: number;
};

/** Of an upstream about which nothing is said: every order carries our reference, by which its events are recognised. */
const PROFILE = { reference: "all" } as const satisfies ProfileChanges;

/**
 * Above a stage's default: programs on this machine send all requests of a key's minute at once, and then meet the key's
 * limit, not the gateway's.
 */
const REQUESTS_PER_SECOND_MAX = 1_000;

export const help = `npm start [-- --fresh] [--strict | --sloppy] [--virtual-nin]

Runs the whole service on this machine.

Options:
  --fresh            delete the accounts, balances and transactions of earlier runs first
  --strict           the simulated upstream refuses whatever its document does not show
  --sloppy           it sends numbers as texts, capitals, further fields, and refusals inside a 200
  --virtual-nin      the simulated upstream takes a virtual NIN of 16 letters and digits in place of a NIN
  --help             show this help

Environment:
  PORT               port of the service; default 4010; 0 takes a free one
  DATA_DIR           directory of the data; default .local/data
  SERVICE_FILE       file with the base URL and keys as JSON while the service runs; default .local/service.json
  UPSTREAM_BASE_URL  upstream of live requests, instead of the simulator; needs the next one
  UPSTREAM_LIVE_KEY  the service's key at that upstream; several with spaces between them
  UPSTREAM_PROFILE   how it differs from the document, as JSON such as {"reference":"documented"} (docs/upstream.md);
                     default ${JSON.stringify(PROFILE)}
  DYNAMODB_ENDPOINT  a DynamoDB Local that already runs
  REQUESTS_PER_SECOND_MAX
                     rate limit of each order's route, of which other routes have a part; default ${REQUESTS_PER_SECOND_MAX}
  WORKERS            on or off; default on; off leaves events, outcomes and webhooks in their queues
  AWS_CALLS          short or sdk; default short; sdk has the SDK send all calls to AWS`;

const webUrl = (name: string) =>
  z.optional(
    z.pipe(
      z.url({ protocol: /^https?$/, error: ({ input }) => `${name} must be an http or https URL; it is "${input}".` }),
      z.transform((url) => url.replace(/\/+$/, "")),
    ),
  );

const upstreamVariables = ["UPSTREAM_BASE_URL", "UPSTREAM_LIVE_KEY", "UPSTREAM_PROFILE"] as const;
const requiredVariables = ["UPSTREAM_BASE_URL", "UPSTREAM_LIVE_KEY"] as const;

const profileText = z.pipe(
  z.string(),
  z.transform((text, context) => {
    const json = jsonOf(text);
    const parsed = profileChanges.safeParse(json === undefined ? text : json);
    const issues = parsed.error?.issues ?? [];
    const [problem = parsed.data?.reference === undefined ? 'name its reference, "all" or "documented"' : undefined] =
      issues.map(({ path, message }) => [...path, message].join(": "));
    if (problem === undefined && parsed.data !== undefined) return parsed.data;
    context.issues.push({
      code: "custom",
      input: context.value,
      message: `UPSTREAM_PROFILE is not valid: ${problem}.`,
    });
    return z.NEVER;
  }),
);

const environmentSchema = z
  .object({
    PORT: z.pipe(
      z._default(z.string(), "4010").check(
        z.refine((text) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535, {
          error: ({ input }) => `PORT must be a number from 0 to 65535; it is "${input}".`,
        }),
      ),
      z.transform(Number),
    ),
    DATA_DIR: z._default(z.string(), ".local/data"),
    SERVICE_FILE: z._default(z.string(), ".local/service.json"),
    UPSTREAM_BASE_URL: webUrl("UPSTREAM_BASE_URL"),
    UPSTREAM_LIVE_KEY: z.optional(
      z.pipe(
        z.string(),
        z.transform((keys) => keys.split(/\s+/).join("\n")),
      ),
    ),
    UPSTREAM_PROFILE: z.optional(profileText),
    DYNAMODB_ENDPOINT: webUrl("DYNAMODB_ENDPOINT"),
    WORKERS: z._default(
      z.enum(["on", "off"], { error: ({ input }) => `WORKERS must be on or off; it is "${input}".` }),
      "on",
    ),
    REQUESTS_PER_SECOND_MAX: z.pipe(
      z._default(z.string(), String(REQUESTS_PER_SECOND_MAX)).check(
        z.regex(/^[1-9]\d{0,9}$/, {
          error: ({ input }) => `REQUESTS_PER_SECOND_MAX must be a whole number from 1; it is "${input}".`,
        }),
      ),
      z.transform(Number),
    ),
    AWS_CALLS: z._default(
      z.enum(["short", "sdk"], { error: ({ input }) => `AWS_CALLS must be short or sdk; it is "${input}".` }),
      "short",
    ),
  })
  .check(
    z.superRefine((variables, context) => {
      const set = upstreamVariables.find((name) => variables[name] !== undefined);
      const unset = requiredVariables.find((name) => variables[name] === undefined);
      if (set === undefined || unset === undefined) return;
      context.issues.push({
        code: "custom",
        input: context.value,
        message: `${set} is set but ${unset} is not: set ${requiredVariables.join(" and ")}, or none of ${upstreamVariables.join(", ")}.`,
      });
    }),
  );

/** Parses options and environment; undefined for --help. Throws a `SettingsError`. */
export const parseSettings = (
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Settings | undefined => {
  const options = parseOptions(args);
  if (options.help) return undefined;
  // An empty variable counts as unset, as in most shell scripts.
  const variables = Object.entries(env).map(([name, text]) => [name, text?.trim() || undefined]);
  const parsed = environmentSchema.safeParse(Object.fromEntries(variables));
  if (!parsed.success) throw new SettingsError(parsed.error.issues[0]?.message);
  const { PORT, DATA_DIR, SERVICE_FILE, UPSTREAM_BASE_URL, UPSTREAM_LIVE_KEY } = parsed.data;
  const { DYNAMODB_ENDPOINT, UPSTREAM_PROFILE = PROFILE } = parsed.data;
  return {
    port: PORT,
    dataDir: DATA_DIR,
    serviceFile: SERVICE_FILE,
    fresh: options.fresh,
    manner: options.manner,
    virtualNin: options.virtualNin,
    workers: parsed.data.WORKERS,
    awsCalls: parsed.data.AWS_CALLS,
    requestsPerSecondMax: parsed.data.REQUESTS_PER_SECOND_MAX,
    ...(UPSTREAM_BASE_URL && UPSTREAM_LIVE_KEY
      ? { upstream: { baseUrl: UPSTREAM_BASE_URL, liveKey: UPSTREAM_LIVE_KEY, profile: UPSTREAM_PROFILE } }
      : {}),
    ...(DYNAMODB_ENDPOINT && { dynamodbEndpoint: DYNAMODB_ENDPOINT }),
  };
};

const parseOptions = (
  args: readonly string[],
): Pick<Settings, "fresh" | "manner" | "virtualNin"> & { readonly help: boolean } => {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        fresh: { type: "boolean" },
        help: { type: "boolean", short: "h" },
        strict: { type: "boolean" },
        sloppy: { type: "boolean" },
        "virtual-nin": { type: "boolean" },
      },
    });
    const { fresh = false, help = false, strict = false, sloppy = false, "virtual-nin": virtualNin = false } = values;
    const manner = sloppy ? "sloppy" : strict ? "strict" : "lenient";
    if (!(strict && sloppy)) return { fresh, help, manner, virtualNin };
  } catch {
    throw new SettingsError(
      `The only options are --fresh, --strict, --sloppy, --virtual-nin and --help; given: ${args.join(" ")}.`,
    );
  }
  throw new SettingsError("--strict does not go with --sloppy.");
};
