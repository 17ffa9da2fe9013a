import { createHash, randomInt } from "node:crypto";
import type { RateGroup } from "../contract/limits.ts";
import { MINUTE_MS } from "../contract/values/durations.ts";
import { log } from "../platform/log.ts";
import type { Secret } from "../platform/secrets.ts";
import { type Clock, isRecent } from "../platform/time.ts";
import type { ExchangeResult } from "./exchange.ts";
import type { UpstreamProfile } from "./profile.ts";
import { upstreamLimit } from "./rate-limit.ts";

/**
 * How long a rejected key is set aside before one request tries it again. Shorter than the 5 minutes of an alarm's
 * period, so that the alarm lasts as long as the rejection.
 */
export const SET_ASIDE_MS = 4 * MINUTE_MS;

/** The lines of the secret: one key each. Spaces and line breaks around a key do not belong to it. */
export const keyLines = (text: string): readonly string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** What every test key of the upstream begins with. Source: docs/interface.md 2.2. */
export const TEST_KEY_PREFIX = "test_";

/** Whether a header can hold the key. Only the upstream knows how long a key must be (decision 0002). */
export const isUsableKey = (key: string): boolean => /^[\x21-\x7e]+$/.test(key);

/** The secret's usable keys, each once. A line that no header can hold is left out. */
export const usableKeys = (text: string | undefined): readonly string[] => [
  ...new Set(keyLines(text ?? "").filter(isUsableKey)),
];

/** Names a key in logs and reports. 32 bits of its hash do not help to find one of the many keys that share them. */
export const upstreamKeyId = (key: string): string => createHash("sha256").update(key).digest("hex").slice(0, 8);

/** The service's keys at the upstream, used in turn, each with its own budget and its own health. */
export type KeyPool = {
  /** Takes over the keys of the secret; true if there are any. */
  readonly load: () => Promise<boolean>;
  /** The same without the secret's cache: for the one retry after a key was rejected. */
  readonly reload: () => Promise<boolean>;
  /**
   * The key whose turn it is: the next healthy one that has budget, else the next healthy one. While all keys are
   * rejected, each counts as healthy: the next request finds out whether the upstream accepts them again.
   */
  readonly next: (group: RateGroup) => string | undefined;
  /** The next healthy key with budget, except one. */
  readonly another: (group: RateGroup, than: string) => string | undefined;
  /**
   * Records what a response says about the key: its budget, and that it is accepted. True if the response is a 429
   * about its order only.
   */
  readonly record: (group: RateGroup, result: ExchangeResult, key: string) => boolean;
  /**
   * Sets a key aside that the upstream rejected: after a 401 for every group, after a 403 for this one, because a key
   * may lack one permission. It ends with `SET_ASIDE_MS`, or when the secret changes.
   */
  readonly reject: (group: RateGroup, status: RejectionStatus, key: string) => void;
  /** When the first healthy key has budget again; undefined while one has. */
  readonly spentUntilMs: (group: RateGroup) => number | undefined;
  /** Takes over that another instance found all keys spent until then. */
  readonly learnSpent: (group: RateGroup, untilMs: number) => void;
  /** Seconds until the first healthy key has budget again; 0 while one has. */
  readonly waitS: (group: RateGroup) => number;
  /** Requests that the upstream still takes from the healthy keys, as far as this process knows. */
  readonly requestsLeft: (group: RateGroup) => number;
  /** Requests that the upstream takes from the healthy keys in a minute. */
  readonly perMinute: (group: RateGroup) => number;
};

export type RejectionStatus = 401 | 403;

export const keyPool = (secret: Secret, clock: Clock, limits: UpstreamProfile["limits"]): KeyPool => {
  const limit = upstreamLimit(clock, limits);
  let text: string | undefined;
  let keys: readonly string[] = [];
  /** Since when a key is set aside, by group or for `every` group. */
  let setAsideAtMs = new Map<string, number>();
  // Instances begin at different keys: otherwise each new one would send its first request with the first key.
  let turn = randomInt(1_000);

  const takeOver = (current: string | undefined): boolean => {
    if (current !== text) {
      text = current;
      keys = usableKeys(current);
      setAsideAtMs = new Map();
    }
    return keys.length > 0;
  };
  const isSetAside = (group: RateGroup, key: string): boolean =>
    [group, "every"].some((scope) => {
      const atMs = setAsideAtMs.get(`${scope} ${key}`);
      return atMs !== undefined && isRecent(atMs, SET_ASIDE_MS, clock());
    });
  const healthyKeys = (group: RateGroup): readonly string[] => {
    const healthy = keys.filter((key) => !isSetAside(group, key));
    return healthy.length > 0 ? healthy : keys;
  };
  const hasBudget = (group: RateGroup, key: string): boolean => limit.spentUntilMs(group, [key]) === undefined;
  const takeTurn = (candidates: readonly string[]): string | undefined => {
    const inTurn = keys.map((_key, index) => keys[(turn + index) % keys.length]);
    const taken = inTurn.find((key) => key !== undefined && candidates.includes(key));
    if (taken !== undefined) turn = keys.indexOf(taken) + 1;
    return taken;
  };

  return {
    load: async () => takeOver(await secret.value()),
    reload: async () => takeOver(await secret.refetch()),
    next: (group) => {
      const healthy = healthyKeys(group);
      return takeTurn(healthy.filter((key) => hasBudget(group, key))) ?? takeTurn(healthy);
    },
    another: (group, than) => takeTurn(healthyKeys(group).filter((key) => key !== than && hasBudget(group, key))),
    record: (group, result, key) => {
      if (result.kind === "answered" && result.status === 200) {
        setAsideAtMs.delete(`${group} ${key}`);
        setAsideAtMs.delete(`every ${key}`);
      }
      return limit.record(group, result, key);
    },
    reject: (group, status, key) => {
      // A key that is no longer in the secret was rotated out, and the only key has no replacement.
      if (!keys.includes(key) || keys.length === 1 || isSetAside(group, key)) return;
      setAsideAtMs.set(`${status === 401 ? "every" : group} ${key}`, clock());
      log.alarm("upstream.key_rejected", { upstream_key: upstreamKeyId(key), status, group });
    },
    spentUntilMs: (group) => limit.spentUntilMs(group, healthyKeys(group)),
    learnSpent: (group, untilMs) => limit.learn(group, keys, untilMs),
    waitS: (group) => limit.waitS(group, healthyKeys(group)),
    requestsLeft: (group) => limit.requestsLeft(group, healthyKeys(group)),
    perMinute: (group) => limit.perMinute(group, healthyKeys(group)),
  };
};
