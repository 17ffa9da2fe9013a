import { ServiceError } from "../contract/errors.ts";
import type { RateGroup } from "../contract/limits.ts";
import { type Deadline, upstreamBudgetMs, withTimeout } from "../platform/deadline.ts";
import { log } from "../platform/log.ts";
import { nairaFromKobo } from "../platform/money.ts";
import type { Secret } from "../platform/secrets.ts";
import { type Clock, sleep, systemClock } from "../platform/time.ts";
import { UPSTREAM_MS_MIN } from "../platform/time-budgets.ts";
import { classify, classifyCheck } from "./classify.ts";
import { type ExchangeResult, exchange } from "./exchange.ts";
import { retryAfterS, type UpstreamLimit, upstreamLimit } from "./rate-limit.ts";
import { type IdentityCheck, orderFields, type Upstream, type UpstreamOrder } from "./upstream.ts";

export type UpstreamAccess = {
  /** Ends with `/v1`. */
  readonly baseUrl: string;
  readonly liveKey: Secret;
  readonly clock?: Clock;
};

/** The upstream over HTTP, for live keys only. */
export type HttpUpstream = Upstream & {
  /** GET /vtu/data; a 429 is retried after its wait, while the deadline allows. */
  readonly fetchCatalog: (deadline: Deadline) => Promise<ExchangeResult>;
};

/** Why nothing was sent, if the upstream's key is absent. */
export const NO_UPSTREAM_KEY = "no_upstream_key";
/** An order that got a 429 is sent again once, unless its `Retry-After` is longer. */
const ORDER_RETRY_AFTER_S_MAX = 3;
const ORDER_RESPONSE_BYTES_MAX = 1_048_576;
/** An advanced record contains a photo. Lambda limits our own response to 6 MB. */
const CHECK_RESPONSE_BYTES_MAX = 5_767_168;
const CATALOG_BYTES_MAX = 8_388_608;

/** A client of the upstream, which serves the same interface as this service (docs/interface.md 16.1). */
export const httpUpstream = ({ baseUrl, liveKey: storedKey, clock = systemClock }: UpstreamAccess): HttpUpstream => {
  const liveKey = onlyValid(storedKey);
  const limit = upstreamLimit(clock);
  const send = createSend(baseUrl, limit);
  return {
    assertReady: async (request, deadline, { mayWait = false } = {}) => {
      const waitS = limit.waitS(groupOf(request));
      if (waitS > 0 && !mayWait) throw unavailable("upstream_limit", waitS);
      if ((await liveKey.value()) === undefined) throw unavailable(NO_UPSTREAM_KEY, 60);
      if (upstreamBudgetMs(deadline) < UPSTREAM_MS_MIN) throw unavailable("no_time", 1);
    },
    waitS: limit.waitS,
    buy: async (order, reference, deadline) => {
      const request = orderRequest(order, reference);
      return classify(await sendOrder(request, deadline, liveKey, send), orderFieldsOf(request));
    },
    check: async (check, reference, deadline) => {
      const request = checkRequest(check, reference);
      return classifyCheck(await sendOrder(request, deadline, liveKey, send), orderFieldsOf(request));
    },
    fetchCatalog: async (deadline) => {
      for (;;) {
        const key = await liveKey.value();
        if (key === undefined) return { kind: "never_sent", reason: NO_UPSTREAM_KEY };
        const result = await sendRead(key, liveKey, deadline, (current) =>
          send({ ...catalogRequest, key: current, totalMs: upstreamBudgetMs(deadline) }),
        );
        const waitMs = Math.max(1, limit.waitS("catalog")) * 1_000;
        const isLimited = result.kind === "answered" && result.status === 429;
        if (!isLimited || upstreamBudgetMs(deadline) - waitMs < UPSTREAM_MS_MIN) return result;
        await sleep(waitMs);
      }
    },
  };
};

/**
 * A key that is not valid in a header, such as one pasted with a line break, counts as absent, so orders are refused.
 */
const onlyValid = (key: Secret): Secret => {
  const valid = (value: string | undefined) =>
    value !== undefined && /^[\x21-\x7e]+$/.test(value) ? value : undefined;
  return {
    value: async () => valid(await key.value()),
    refetch: async () => valid(await key.refetch()),
  };
};

type UpstreamRequest = {
  readonly group: RateGroup;
  readonly path: string;
  readonly body?: Readonly<Record<string, string | number | boolean>>;
  readonly bytesMax: number;
};
type Send = (request: UpstreamRequest & { readonly key: string; readonly totalMs: number }) => Promise<ExchangeResult>;

const createSend =
  (baseUrl: string, limit: UpstreamLimit): Send =>
  async ({ group, path, body, bytesMax, key, totalMs }) => {
    const result = await exchange(
      {
        method: body === undefined ? "GET" : "POST",
        url: `${baseUrl}${path}`,
        headers: {
          authorization: `Bearer ${key}`,
          accept: "application/json",
          ...(body && { "content-type": "application/json" }),
        },
        ...(body && { body: JSON.stringify(body) }),
      },
      { totalMs, bytesMax },
    );
    limit.record(group, result);
    return result;
  };

/**
 * Sends an order or check. It is sent again once at most, and only after a response that certainly refused it: a 401
 * while the key was rotated, or a 429 with a short wait. An unknown outcome is never sent again. Source:
 * docs/interface.md 16.D4.
 */
const sendOrder = async (
  request: UpstreamRequest,
  deadline: Deadline,
  liveKey: Secret,
  send: Send,
): Promise<ExchangeResult> => {
  const sendWith = (key: string): Promise<ExchangeResult> =>
    upstreamBudgetMs(deadline) < UPSTREAM_MS_MIN
      ? Promise.resolve({ kind: "never_sent", reason: "no_time" })
      : send({ ...request, key, totalMs: upstreamBudgetMs(deadline) });

  const key = await keyInTime(liveKey.value, deadline);
  if (key === undefined) return { kind: "never_sent", reason: NO_UPSTREAM_KEY };
  const first = await sendWith(key);
  if (first.kind !== "answered" || classify(first, []).kind !== "account_error") return first;
  if (first.status === 401) return retryWithFreshKey(first, key, liveKey, deadline, sendWith);
  const waitS = retryAfterS(first);
  if (first.status !== 429 || waitS === undefined || waitS > ORDER_RETRY_AFTER_S_MAX) return first;
  if (upstreamBudgetMs(deadline) - waitS * 1_000 < UPSTREAM_MS_MIN) return first;
  await sleep(waitS * 1_000);
  return sendWith(key);
};

/** The key, or undefined if it cannot be read while there is still time to send an order. */
const keyInTime = (read: Secret["value"], deadline: Deadline): Promise<string | undefined> =>
  withTimeout(upstreamBudgetMs(deadline) - UPSTREAM_MS_MIN, read).catch(() => undefined);

/** Sends a read; after a 401 it is sent again with the key as it is now. */
const sendRead = async (
  key: string,
  liveKey: Secret,
  deadline: Deadline,
  sendWith: (key: string) => Promise<ExchangeResult>,
): Promise<ExchangeResult> => {
  const first = await sendWith(key);
  const isRefused = first.kind === "answered" && first.status === 401;
  return isRefused ? retryWithFreshKey(first, key, liveKey, deadline, sendWith) : first;
};

const retryWithFreshKey = async (
  refused: ExchangeResult,
  key: string,
  liveKey: Secret,
  deadline: Deadline,
  sendWith: (key: string) => Promise<ExchangeResult>,
): Promise<ExchangeResult> => {
  const fresh = await keyInTime(liveKey.refetch, deadline);
  return fresh === undefined || fresh === key ? refused : sendWith(fresh);
};

/** The fields of the request that our callers know by the same name. */
const orderFieldsOf = ({ body = {} }: UpstreamRequest) => orderFields.filter((field) => Object.hasOwn(body, field));

const groupOf = (request: UpstreamOrder | IdentityCheck): RateGroup =>
  request.kind === "identity" ? "identity" : "vtu";

const catalogRequest: UpstreamRequest = { group: "catalog", path: "/vtu/data", bytesMax: CATALOG_BYTES_MAX };

const orderRequest = (order: UpstreamOrder, reference: string): UpstreamRequest => {
  const common = { phone_number: order.phoneNumber, reference };
  const request = { group: groupOf(order), bytesMax: ORDER_RESPONSE_BYTES_MAX };
  if (order.kind === "airtime") {
    const body = { network: order.network, amount: nairaFromKobo(order.amountKobo), ...common };
    return { ...request, path: "/vtu/airtime/purchase", body };
  }
  return {
    ...request,
    path: "/vtu/data/purchase",
    body: { network_id: order.networkId, plan_id: order.planId, ...common },
  };
};

const checkRequest = (check: IdentityCheck, reference: string): UpstreamRequest => {
  const common = { is_consent: true, reference };
  const request = { group: groupOf(check), bytesMax: CHECK_RESPONSE_BYTES_MAX };
  const path = `/identity/${check.idType}`;
  if ("phoneNumber" in check.by) {
    return { ...request, path: `${path}/retrieve`, body: { phone_number: check.by.phoneNumber, ...common } };
  }
  const { number, mode } = check.by;
  return { ...request, path: `${path}/verify`, body: { [check.idType]: number, mode, ...common } };
};

const unavailable = (reason: string, retryAfterS: number): ServiceError => {
  log.warn("upstream.not_ready", { reason });
  return new ServiceError("provider_unavailable", { retryAfterS });
};
