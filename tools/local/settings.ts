import { parseArgs } from "node:util";
import * as z from "zod";
import { SettingsError } from "../../infra/settings-error.ts";

/** What an error of Node's says, for a sentence of ours. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

type Upstream = { readonly baseUrl: string; readonly liveKey: string };

/** What `npm start` was asked to do. */
export type Settings = {
  readonly port: number;
  readonly dataDir: string;
  readonly serviceFile: string;
  /** Forget everything before the start. */
  readonly fresh: boolean;
  /** A provider elsewhere; without it the simulator is started. */
  readonly upstream?: Upstream;
  /** A DynamoDB that runs already; without it dynoxide is started. */
  readonly dynamodbEndpoint?: string;
  /** The settings of a stage with these names: both off for a restore. */
  readonly purchases: OnOrOff;
  readonly workers: OnOrOff;
};

type OnOrOff = "on" | "off";

export const help = `npm start [-- --fresh]

Runs the whole service on this machine.

  --fresh            forget accounts, balances and transactions of earlier runs first
  --help             show this

Environment:
  PORT               default 4010; 0 takes a free one
  DATA_DIR           default .local/data
  SERVICE_FILE       default .local/service.json: base URL and keys as JSON, there while the service runs
  UPSTREAM_BASE_URL  with UPSTREAM_LIVE_KEY: live requests go there, and no simulator is started
  DYNAMODB_ENDPOINT  a DynamoDB Local that runs already
  PURCHASES          default on; off refuses new orders
  WORKERS            default on; off leaves events, outcomes and webhooks in their queues`;

const onOrOff = (name: string) =>
  z.enum(["on", "off"], { error: ({ input }) => `${name} must be on or off; it is "${input}".` }).default("on");

const webUrl = (name: string) =>
  z
    .url({ protocol: /^https?$/, error: ({ input }) => `${name} must be a http or https URL; it is "${input}".` })
    .transform((url) => url.replace(/\/+$/, ""))
    .optional();

const environmentSchema = z
  .object({
    PORT: z
      .string()
      .default("4010")
      .refine((text) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535, {
        error: ({ input }) => `PORT must be a number from 0 to 65535; it is "${input}".`,
      })
      .transform(Number),
    DATA_DIR: z.string().default(".local/data"),
    SERVICE_FILE: z.string().default(".local/service.json"),
    UPSTREAM_BASE_URL: webUrl("UPSTREAM_BASE_URL"),
    UPSTREAM_LIVE_KEY: z.string().optional(),
    DYNAMODB_ENDPOINT: webUrl("DYNAMODB_ENDPOINT"),
    PURCHASES: onOrOff("PURCHASES"),
    WORKERS: onOrOff("WORKERS"),
  })
  .superRefine(({ UPSTREAM_BASE_URL: url, UPSTREAM_LIVE_KEY: key }, context) => {
    if (url !== undefined && key === undefined) {
      context.addIssue(
        "UPSTREAM_BASE_URL is set but UPSTREAM_LIVE_KEY is not: set both, or neither for the simulator.",
      );
    }
    if (url === undefined && key !== undefined) {
      context.addIssue(
        "UPSTREAM_LIVE_KEY is set but UPSTREAM_BASE_URL is not: set both, or neither for the simulator.",
      );
    }
  });

/** Reads flags and environment; undefined when only help was asked for. Throws a `SettingsError`. */
export const readSettings = (
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Settings | undefined => {
  const flags = readFlags(args);
  if (flags.help) return undefined;
  // An empty variable counts as absent, as in most shells' scripts.
  const given = Object.entries(env).map(([name, text]) => [name, text?.trim() || undefined]);
  const parsed = environmentSchema.safeParse(Object.fromEntries(given));
  if (!parsed.success) throw new SettingsError(parsed.error.issues[0]?.message);
  const { PORT, DATA_DIR, SERVICE_FILE, UPSTREAM_BASE_URL, UPSTREAM_LIVE_KEY, DYNAMODB_ENDPOINT } = parsed.data;
  return {
    port: PORT,
    dataDir: DATA_DIR,
    serviceFile: SERVICE_FILE,
    fresh: flags.fresh,
    purchases: parsed.data.PURCHASES,
    workers: parsed.data.WORKERS,
    ...(UPSTREAM_BASE_URL && UPSTREAM_LIVE_KEY
      ? { upstream: { baseUrl: UPSTREAM_BASE_URL, liveKey: UPSTREAM_LIVE_KEY } }
      : {}),
    ...(DYNAMODB_ENDPOINT && { dynamodbEndpoint: DYNAMODB_ENDPOINT }),
  };
};

const readFlags = (args: readonly string[]): { readonly fresh: boolean; readonly help: boolean } => {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { fresh: { type: "boolean" }, help: { type: "boolean" } },
    });
    return { fresh: values.fresh ?? false, help: values.help ?? false };
  } catch {
    throw new SettingsError(`Only --fresh and --help are known; given was: ${args.join(" ")}.`);
  }
};
