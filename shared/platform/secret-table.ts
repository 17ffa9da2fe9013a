import * as z from "#zod";
import { SECRET_LENGTH_MIN } from "./secret-length.ts";

export type SecretKind = "filled" | "generated" | "fixed";

type SecretSpec = {
  /** The environment variable with the secret's id. The functions that read it have it in their specs. */
  readonly variable: `${string}_SECRET_ID`;
  readonly description: string;
  /**
   * `filled`: the operator sets it. `generated`: made on deployment, rotated by the operator's command. `fixed`: made
   * once and never replaced, because stored data depends on it; a stage that adopts a ledger brings it along.
   */
  readonly kind: SecretKind;
  readonly lengthMin: number;
  /** The setting of a stage (infra/stage-settings.ts) that names an existing `fixed` secret. */
  readonly adoptedAs?: `${string}SecretArn`;
  /** The upstream sends it or signs with it: an event that fits no known version makes the functions fetch it again. */
  readonly isPresented?: true;
  /** It holds one key or several, one per line, which the functions use in turn. */
  readonly isKeyPool?: true;
  /** The operator adds versions, which do not change the first one. */
  readonly hasVersions?: true;
  /** What its value begins with. */
  readonly prefix?: string;
};

/**
 * Every secret, by its name in commands and in the local service. The stacks, grants, local runner and operator's
 * commands are made from this table. Functions import types of this module only, so nothing of it is in a bundle.
 */
export const secretTable = {
  "upstream-key": {
    variable: "UPSTREAM_KEY_SECRET_ID",
    description: "The upstream's live keys, one per line",
    kind: "filled",
    lengthMin: 1,
    isKeyPool: true,
  },
  "upstream-test-key": {
    variable: "UPSTREAM_TEST_KEY_SECRET_ID",
    description: "The upstream's test key, for the probe alone",
    kind: "filled",
    lengthMin: 1,
    prefix: "test_",
  },
  "upstream-webhook-hmac": {
    variable: "UPSTREAM_HMAC_SECRET_ID",
    description: "The key with which the upstream signs its events, if it does",
    kind: "filled",
    lengthMin: SECRET_LENGTH_MIN,
    isPresented: true,
  },
  "webhook-token": {
    variable: "WEBHOOK_TOKEN_SECRET_ID",
    description: "The end of the path at which the upstream reports",
    kind: "generated",
    lengthMin: SECRET_LENGTH_MIN,
    isPresented: true,
  },
  "reference-key": {
    variable: "REFERENCE_KEY_SECRET_ID",
    description: "Names transactions, and recognises what was ordered",
    kind: "fixed",
    hasVersions: true,
    adoptedAs: "referenceKeySecretArn",
    lengthMin: SECRET_LENGTH_MIN,
  },
  "checksum-key": {
    variable: "CHECKSUM_KEY_SECRET_ID",
    description: "Makes the checksums of API keys; never rotated",
    kind: "fixed",
    adoptedAs: "checksumKeySecretArn",
    lengthMin: SECRET_LENGTH_MIN,
  },
  "replay-key": {
    variable: "REPLAY_KEY_SECRET_ID",
    description: "Seals identity results for 10 minutes",
    kind: "generated",
    lengthMin: SECRET_LENGTH_MIN,
  },
  "webhook-key": {
    variable: "WEBHOOK_KEY_SECRET_ID",
    description: "Seals the accounts' webhook secrets, and the URLs of people's chats",
    kind: "fixed",
    adoptedAs: "webhookKeySecretArn",
    lengthMin: SECRET_LENGTH_MIN,
  },
} as const satisfies Record<string, SecretSpec>;
export type SecretName = keyof typeof secretTable;
export type SecretVariable = (typeof secretTable)[SecretName]["variable"];

export const secretNames: readonly SecretName[] = Object.keys(secretTable).filter(
  (name): name is SecretName => name in secretTable,
);

export const secretValues = (create: (name: SecretName) => unknown): Record<SecretName, string> =>
  valuesSchema.parse(Object.fromEntries(secretNames.map((name) => [name, create(name)])));
const valuesSchema = z.record(z.enum(secretNames), z.string().check(z.minLength(1)));

export const secretIds = (idOf: (name: SecretName) => unknown): Record<SecretVariable, string> =>
  idsSchema.parse(Object.fromEntries(secretNames.map((name) => [secretTable[name].variable, idOf(name)])));
const idsSchema = z.record(
  z.enum(secretNames.map((name) => secretTable[name].variable)),
  z.string().check(z.minLength(1)),
);
