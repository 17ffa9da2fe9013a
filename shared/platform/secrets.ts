import { MINUTE_MS } from "../contract/values/durations.ts";
import type { SecretsClient } from "./aws-clients.ts";
import { withTimeout } from "./deadline.ts";
import { type Clock, isRecent, sleep, systemClock } from "./time.ts";
import { JOIN_MS_MAX } from "./time-budgets.ts";

/** How long a value is cached. After that it is fetched again, so a rotation needs no deployment. */
export const SECRET_CACHE_MS = 5 * MINUTE_MS;
/** How long an absence is cached: a first value takes effect within a minute. */
export const SECRET_ABSENCE_CACHE_MS = MINUTE_MS;
/** How long the cached value or absence is used after a failed or slow fetch, before the next one. */
const RETRY_AFTER_MS = 5_000;
/** A function reads up to three secrets one after the other: it does not wait for each until its client gives up. */
const FETCH_MS_MAX = 1_000;

type Stage = "AWSCURRENT" | "AWSPREVIOUS";

/** A secret, cached in memory. */
export type Secret = {
  /** The value; undefined if it is not set. Throws if Secrets Manager fails and nothing is cached. */
  readonly value: () => Promise<string | undefined>;
  /** The current value, without the cache: for the one retry after the cached value was rejected. */
  readonly refetch: () => Promise<string | undefined>;
};

/** Reads a secret through a cache. While Secrets Manager fails or is slow, the cached value or absence stays in use. */
export const secret = (
  client: SecretsClient,
  secretId: string,
  clock: Clock = systemClock,
  stage: Stage = "AWSCURRENT",
): Secret => {
  let cached:
    | { readonly value: string | undefined; readonly request: number; readonly atMs: number; readonly forMs: number }
    | undefined;
  /** Numbers the requests, because the clock may be set back. */
  let requests = 0;
  let request: { readonly answer: Promise<string | undefined>; readonly atMs: number } | undefined;

  const send = (): Promise<string | undefined> => {
    // An answer may arrive an hour later, after Lambda froze the process: its value is as old as the request.
    const atMs = clock();
    requests += 1;
    const number = requests;
    const answer = read(client, secretId, stage)
      .then((value) => {
        const forMs = value === undefined ? SECRET_ABSENCE_CACHE_MS : SECRET_CACHE_MS;
        if (cached === undefined || cached.request < number) cached = { value, request: number, atMs, forMs };
        return cached.value;
      })
      .finally(() => {
        if (request?.answer === answer) request = undefined;
      });
    request = { answer, atMs };
    return answer;
  };

  /** Concurrent callers share one fetch, unless it is of an invocation that Lambda froze: it may have failed or be old. */
  const refetch = async (): Promise<string | undefined> => {
    while (request !== undefined && isRecent(request.atMs, JOIN_MS_MAX, clock())) {
      const shared = request;
      const joined = await Promise.race([shared.answer.then((value) => ({ value })), sleep(JOIN_MS_MAX)]);
      if (joined !== undefined) return joined.value;
      if (request === shared) request = undefined;
    }
    return send();
  };

  const value = async (): Promise<string | undefined> => {
    if (cached === undefined) return refetch();
    if (isRecent(cached.atMs, cached.forMs, clock())) return cached.value;
    try {
      return await withTimeout(FETCH_MS_MAX, refetch);
    } catch {
      cached = { ...cached, atMs: clock(), forMs: RETRY_AFTER_MS };
      return cached.value;
    }
  };

  return { value, refetch };
};

/**
 * A previous version counts only if it is not newer than the current one. Who may set a secret can also put a value that is only
 * the previous one: it was never current, and Secrets Manager sends no event about it. Sources: AWS Secrets Manager,
 * "PutSecretValue", VersionStages; "Secret Label Updated event".
 */
const read = async (client: SecretsClient, secretId: string, stage: Stage): Promise<string | undefined> => {
  if (stage === "AWSCURRENT") return (await readVersion(client, secretId, stage))?.value;
  const [previous, current] = await Promise.all([
    readVersion(client, secretId, "AWSPREVIOUS"),
    readVersion(client, secretId, "AWSCURRENT"),
  ]);
  const wasCurrent = previous !== undefined && current !== undefined && previous.createdMs <= current.createdMs;
  return wasCurrent ? previous.value : undefined;
};

type Version = { readonly value: string | undefined; readonly createdMs: number };

const readVersion = async (client: SecretsClient, secretId: string, stage: Stage): Promise<Version | undefined> => {
  try {
    const { SecretString, CreatedDate } = await client.getSecretValue({ SecretId: secretId, VersionStage: stage });
    return { value: SecretString?.trim() || undefined, createdMs: CreatedDate?.getTime() ?? Number.NaN };
  } catch (error) {
    // AWS reports this error for a secret that was created without a value.
    if (error instanceof Error && error.name === "ResourceNotFoundException") return undefined;
    throw error;
  }
};
