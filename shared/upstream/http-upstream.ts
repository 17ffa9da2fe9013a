import { ServiceError } from "../contract/errors.ts";
import type { RateGroup } from "../contract/limits.ts";
import { type Deadline, upstreamBudgetMs, withTimeout } from "../platform/deadline.ts";
import { log } from "../platform/log.ts";
import { sleep, systemClock } from "../platform/time.ts";
import { UPSTREAM_MS_MIN } from "../platform/time-budgets.ts";
import { balanceRequest, readBalance } from "./balance.ts";
import { circuitBreaker } from "./circuit-breaker.ts";
import { classify, classifyCheck } from "./classify.ts";
import { type ExchangeResult, exchange } from "./exchange.ts";
import { type KeyPool, keyPool, type RejectionStatus } from "./key-pool.ts";
import type { LiveUpstream, UpstreamAccess, UpstreamReader } from "./live-upstream.ts";
import { LOOKUP_GROUP, lookupRequest, readLookup } from "./lookup.ts";
import type { UpstreamProfile } from "./profile.ts";
import { retryAfterS } from "./rate-limit.ts";
import { catalogRequest, checkRequest, groupOf, httpRequest, orderRequest, type UpstreamRequest } from "./requests.ts";
import { type CheckOutcome, NO_TIME, NO_UPSTREAM_KEY, type Outcome } from "./upstream.ts";

/** An order that got a 429 is sent again once, unless its `Retry-After` is longer. */
const ORDER_RETRY_AFTER_S_MAX = 3;

const poolClient = ({ baseUrl, profile, liveKey, clock = systemClock }: UpstreamAccess): Client => {
  const pool = keyPool(liveKey, clock, profile.limits);
  return { profile, pool, send: createSend(baseUrl, profile, pool) };
};

export const upstreamReader = (access: UpstreamAccess): UpstreamReader => {
  const { lookup, balance } = access.profile;
  const client = poolClient(access);
  const read = async (request: UpstreamRequest, deadline: Deadline): Promise<ExchangeResult> => {
    await keysInTime(client.pool.load, deadline);
    return (await sendWithPool(client, request, deadline)).result;
  };
  return {
    ...(lookup && {
      lookUp: async (reference, deadline) => {
        const request = lookupRequest(lookup, reference);
        if (request === undefined) return { kind: "not_asked", reason: "reference_not_sendable" };
        return readLookup(access.profile, lookup, await read(request, deadline));
      },
    }),
    ...(balance && {
      readBalance: async (deadline) => readBalance(balance, await read(balanceRequest(balance), deadline)),
    }),
    waitS: () => client.pool.waitS(LOOKUP_GROUP),
  };
};

/** A client of the upstream, whose interface its profile describes (docs/interface.md 16.1). */
export const httpUpstream = (access: UpstreamAccess): LiveUpstream => {
  const client = poolClient(access);
  const { profile, pool } = client;
  const { clock = systemClock } = access;
  const breaker = circuitBreaker(clock);
  const breakerWaitS = (group: RateGroup): number => (group === "vtu" ? breaker.waitS() : 0);
  return {
    baseUrl: access.baseUrl,
    assertReady: async (request, deadline, { mayWait = false } = {}) => {
      const hasKeys = await pool.load();
      const group = groupOf(request);
      if (breakerWaitS(group) > 0 && !mayWait) throw unavailable("unrecognized_answers", breakerWaitS(group));
      const waitS = pool.waitS(group);
      if (waitS > 0 && !mayWait) throw unavailable("upstream_limit", waitS);
      if (!hasKeys) {
        // Only a person sets it, and each live order is refused until then.
        log.alarm("upstream.account_error", { reason: NO_UPSTREAM_KEY });
        throw new ServiceError("provider_unavailable", { retryAfterS: 60 });
      }
      if (!hasTime(deadline)) throw unavailable(NO_TIME, 1);
    },
    waitS: (group) => Math.max(pool.waitS(group), breakerWaitS(group)),
    blocks: () => ({ limitUntilMs: pool.spentUntilMs("vtu") ?? 0, unrecognizedUntilMs: breaker.untilMs() }),
    learnBlocks: ({ limitUntilMs, unrecognizedUntilMs }) => {
      pool.learnSpent("vtu", limitUntilMs);
      breaker.learn(unrecognizedUntilMs);
    },
    requestsLeft: (group) =>
      group === "vtu" && !breaker.isTrusted() ? Math.min(1, pool.requestsLeft(group)) : pool.requestsLeft(group),
    perMinute: pool.perMinute,
    buy: async (order, reference, deadline, beginning) => {
      const request = { ...orderRequest(profile, order, reference), beginning };
      const result = await sendOrder(client, request, deadline);
      const outcome = classify(profile, result, request.fields);
      breaker.record(result, outcome);
      return withStatus(outcome, result);
    },
    check: async (check, reference, deadline) => {
      const request = checkRequest(profile, check, reference);
      const result = await sendOrder(client, request, deadline);
      return withStatus(classifyCheck(profile, result, request.fields), result);
    },
    fetchCatalog: async (deadline) => {
      let limited: ExchangeResult | undefined;
      for (;;) {
        await pool.load();
        const { result } = await sendWithPool(client, catalogRequest(profile), deadline);
        if (limited !== undefined && result.kind === "never_sent") return limited;
        const waitMs = (pool.waitS("catalog") || retryAfterS(result) || 1) * 1_000;
        const isLimited = result.kind === "answered" && result.status === 429;
        if (!isLimited || !(await waitInTime(waitMs, deadline))) return result;
        limited = result;
      }
    },
  };
};

/** Operators learn by which status an order was refused. */
const withStatus = <Of extends Outcome | CheckOutcome>(outcome: Of, result: ExchangeResult): Of =>
  outcome.kind === "refused" && result.kind === "answered" ? { ...outcome, status: result.status } : outcome;

type Send = (request: UpstreamRequest, key: string, deadline: Deadline) => Promise<ExchangeResult>;
type Client = { readonly profile: UpstreamProfile; readonly pool: KeyPool; readonly send: Send };

const createSend =
  (baseUrl: string, profile: UpstreamProfile, pool: KeyPool): Send =>
  async (request, key, deadline) => {
    if (!hasTime(deadline)) return { kind: "never_sent", reason: NO_TIME };
    const begunMs = performance.now();
    const result = await exchange(httpRequest(baseUrl, profile, request, key), {
      totalMs: upstreamBudgetMs(deadline),
      bytesMax: request.bytesMax,
      beginning: request.beginning,
    });
    deadline.upstreamMs = (deadline.upstreamMs ?? 0) + Math.round(performance.now() - begunMs);
    return pool.record(request.group, result, key) ? { ...result, isAboutOrder: true } : result;
  };

const hasTime = (deadline: Deadline): boolean => upstreamBudgetMs(deadline) >= UPSTREAM_MS_MIN;

/** Waits if a request can still be sent after that; false if there is no time for it. */
const waitInTime = async (waitMs: number, deadline: Deadline): Promise<boolean> => {
  if (upstreamBudgetMs(deadline) - waitMs < UPSTREAM_MS_MIN) return false;
  await sleep(waitMs);
  return true;
};

/**
 * Sends an order or check. It is sent again once at most, and only after the upstream's own 401, or a 429 of the key's
 * limit: with another key, or after the short wait of a 429. An unknown outcome is never sent again.
 * Source: docs/interface.md 16.D4.
 */
const sendOrder = async (client: Client, request: UpstreamRequest, deadline: Deadline): Promise<ExchangeResult> => {
  const { profile, pool } = client;
  await keysInTime(pool.load, deadline);
  const { result, isSentAgain } = await sendWithPool(client, request, deadline);
  const waitS = retryAfterS(result);
  if (isSentAgain || request.beginning !== undefined || keyRefusal(profile, request, result) !== 429) return result;
  if (waitS === undefined || waitS > ORDER_RETRY_AFTER_S_MAX) return result;
  if (!(await waitInTime(waitS * 1_000, deadline))) return result;
  const key = pool.next(request.group);
  return key === undefined ? result : sendLast(client, request, key, deadline, result);
};

/**
 * Sends a request with the next key of the pool, and once more with another one if the response refused the first.
 * After a 401 the secret is fetched again first: the key may have been rotated. After a 403 only the catalog's request
 * is sent again: unlike a 401 and a 429, a 403 may be about the order.
 */
const sendWithPool = async (
  client: Client,
  request: UpstreamRequest,
  deadline: Deadline,
): Promise<{ readonly result: ExchangeResult; readonly isSentAgain: boolean }> => {
  const { profile, pool, send } = client;
  const key = pool.next(request.group);
  if (key === undefined) return { result: { kind: "never_sent", reason: NO_UPSTREAM_KEY }, isSentAgain: false };
  const first = await send(request, key, deadline);
  const refusal = keyRefusal(profile, request, first);
  if (refusal === undefined) return { result: first, isSentAgain: false };
  if (refusal === 401) await keysInTime(pool.reload, deadline);
  if (refusal !== 429) pool.reject(request.group, refusal, key);
  const isAboutOrder = refusal === 403 && request.body !== undefined;
  const other = hasTime(deadline) && !isAboutOrder ? pool.another(request.group, key) : undefined;
  if (other === undefined) return { result: first, isSentAgain: false };
  return { result: await sendLast(client, request, other, deadline, first), isSentAgain: true };
};

/** Sends a request for the last time. If that was not possible, the first response stays. */
const sendLast = async (
  { profile, pool, send }: Client,
  request: UpstreamRequest,
  key: string,
  deadline: Deadline,
  first: ExchangeResult,
): Promise<ExchangeResult> => {
  const result = await send(request, key, deadline);
  const refusal = keyRefusal(profile, request, result);
  if (refusal !== undefined && refusal !== 429) pool.reject(request.group, refusal, key);
  return result.kind === "never_sent" ? first : result;
};

/** The status by which the upstream refused the key, its address or its limit. */
const keyRefusal = (
  profile: UpstreamProfile,
  { isQuestion }: UpstreamRequest,
  result: ExchangeResult,
): RejectionStatus | 429 | undefined => {
  if (result.kind !== "answered" || result.isAboutOrder) return undefined;
  const { status } = result;
  if (status !== 401 && status !== 403 && status !== 429) return undefined;
  if (status === 403 && isQuestion) return undefined;
  return classify(profile, result, []).kind === "account_error" ? status : undefined;
};

/** Reads the keys, unless that leaves no time to send an order: then, and on a failure, the known ones stay in use. */
const keysInTime = async (read: KeyPool["load"], deadline: Deadline): Promise<void> => {
  await withTimeout(upstreamBudgetMs(deadline) - UPSTREAM_MS_MIN, read).catch(() => undefined);
};

const unavailable = (reason: string, retryAfterS: number): ServiceError => {
  log.warn("upstream.not_ready", { reason });
  return new ServiceError("provider_unavailable", { retryAfterS });
};
