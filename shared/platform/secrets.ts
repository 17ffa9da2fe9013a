import { GetSecretValueCommand, type SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { type Clock, sleep, systemClock } from "./time.ts";
import { JOIN_MS_MAX } from "./time-budgets.ts";

/** A shorter value of a key of ours counts as absent. */
export const SECRET_LENGTH_MIN = 32;
/** How long a value may be used before it is requested again: rotation needs no redeploy. */
export const SECRET_CACHE_MS = 5 * 60_000;
/** The same for an absence: the operator's first value is seen within a minute. */
export const SECRET_ABSENCE_CACHE_MS = 60_000;
/** After a failed request the known value or absence is used for this long before the next request. */
const RETRY_AFTER_MS = 5_000;

/** One secret, cached in memory. */
export type Secret = {
  /** The value; undefined while the operator has not set it. Throws when Secrets Manager fails and nothing is known yet. */
  readonly value: () => Promise<string | undefined>;
  /** The value as it is now, without the cache: for the one retry after the cached value was refused. */
  readonly refetch: () => Promise<string | undefined>;
};

/** Reads a secret through a cache; an outage of Secrets Manager takes neither a known value nor a known absence away. */
export const secret = (
  client: SecretsManagerClient,
  secretId: string,
  clock: Clock = systemClock,
  stage: "AWSCURRENT" | "AWSPREVIOUS" = "AWSCURRENT",
): Secret => {
  let cached: { readonly value: string | undefined; readonly untilMs: number } | undefined;
  let request: Promise<string | undefined> | undefined;

  const send = (): Promise<string | undefined> => {
    const sent = read(client, secretId, stage)
      .then((value) => {
        const cacheMs = value === undefined ? SECRET_ABSENCE_CACHE_MS : SECRET_CACHE_MS;
        cached = { value, untilMs: clock() + cacheMs };
        return value;
      })
      .finally(() => {
        if (request === sent) request = undefined;
      });
    request = sent;
    return sent;
  };

  /** Callers at the same time share one request. */
  const refetch = async (): Promise<string | undefined> => {
    while (request !== undefined) {
      const shared = request;
      const joined = await Promise.race([shared.then((value) => ({ value })), sleep(JOIN_MS_MAX)]);
      if (joined !== undefined) return joined.value;
      if (request === shared) request = undefined;
    }
    return send();
  };

  const value = async (): Promise<string | undefined> => {
    if (cached !== undefined && clock() < cached.untilMs) return cached.value;
    try {
      return await refetch();
    } catch (error) {
      if (cached === undefined) throw error;
      cached = { value: cached.value, untilMs: clock() + RETRY_AFTER_MS };
      return cached.value;
    }
  };

  return { value, refetch };
};

const read = async (
  client: SecretsManagerClient,
  secretId: string,
  stage: "AWSCURRENT" | "AWSPREVIOUS",
): Promise<string | undefined> => {
  try {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: secretId, VersionStage: stage }));
    return SecretString?.trim() || undefined;
  } catch (error) {
    // A secret that was created empty has no current version, which AWS reports in this way.
    if (error instanceof Error && error.name === "ResourceNotFoundException") return undefined;
    throw error;
  }
};
