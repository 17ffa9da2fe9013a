import { GetSecretValueCommand, type SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { type Clock, systemClock } from "./time.ts";

/** How long a value may be used before it is asked for again: rotation needs no redeploy. */
export const SECRET_CACHE_MS = 5 * 60_000;

/** One secret, kept in memory for a while. */
export type Secret = {
  /** The value; undefined while the operator has not filled it. Throws when Secrets Manager cannot be reached and nothing is in memory. */
  readonly value: () => Promise<string | undefined>;
  /** The value as it is now, past the cache: for the one repeat after it was refused. */
  readonly refetch: () => Promise<string | undefined>;
};

/** Reads a secret through a cache of 5 minutes; an outage of Secrets Manager does not take a known value away. */
export const secret = (
  client: SecretsManagerClient,
  secretId: string,
  clock: Clock = systemClock,
  stage: "AWSCURRENT" | "AWSPREVIOUS" = "AWSCURRENT",
): Secret => {
  let cached: { readonly value: string | undefined; readonly until_ms: number } | undefined;

  const refetch = async (): Promise<string | undefined> => {
    const value = await read(client, secretId, stage);
    // An absent value is asked for each time, so that the first purchase after the operator fills it works.
    cached = value === undefined ? undefined : { value, until_ms: clock() + SECRET_CACHE_MS };
    return value;
  };

  const value = async (): Promise<string | undefined> => {
    if (cached !== undefined && clock() < cached.until_ms) return cached.value;
    try {
      return await refetch();
    } catch (error) {
      if (cached === undefined) throw error;
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
