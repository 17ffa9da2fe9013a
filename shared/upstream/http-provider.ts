import { ServiceError } from "../contract/errors.ts";
import type { RateGroup } from "../contract/limits.ts";
import { type Deadline, upstreamBudget_ms } from "../platform/deadline.ts";
import { log } from "../platform/log.ts";
import type { Secret } from "../platform/secrets.ts";
import { type Clock, sleep, systemClock } from "../platform/time.ts";
import { classify } from "./classify.ts";
import { type Exchange, exchange } from "./exchange.ts";
import type { Order, Outcome, Provider } from "./provider.ts";
import { retryAfter_s, type UpstreamLimit, upstreamLimit } from "./upstream-limit.ts";

export type UpstreamAccess = {
  /** With its `/v1`. */
  readonly baseUrl: string;
  readonly liveKey: Secret;
  readonly clock?: Clock;
};

/** The upstream over HTTP: live keys only. */
export type HttpProvider = Provider & {
  /** GET /vtu/data; a 429 is waited out while the deadline allows. */
  readonly fetchCatalog: (deadline: Deadline) => Promise<Exchange>;
};

/** Less than this is no time to place an order in. */
const BUDGET_MS_MIN = 1_000;
/** An order that met a 429 is sent once more, if the wait is short. */
const ORDER_RETRY_AFTER_S_MAX = 3;
const ORDER_ANSWER_BYTES_MAX = 1_048_576;
const CATALOG_BYTES_MAX = 8_388_608;

/** A client of an upstream that speaks the same interface as we do. */
export const httpProvider = ({ baseUrl, liveKey, clock = systemClock }: UpstreamAccess): HttpProvider => {
  const limit = upstreamLimit(clock);
  const send = sender(baseUrl, limit);
  return {
    assertReady: async (_order, deadline) => {
      const wait_s = limit.wait_s("vtu");
      if (wait_s > 0) throw unavailable("upstream_limit", wait_s);
      if ((await liveKey.value()) === undefined) throw unavailable("no_upstream_key", 60);
      if (upstreamBudget_ms(deadline) < BUDGET_MS_MIN) throw unavailable("no_time", 1);
    },
    buy: (order, reference, deadline) => placeOrder(orderRequest(order, reference), deadline, liveKey, send),
    fetchCatalog: async (deadline) => {
      for (;;) {
        const key = await liveKey.value();
        if (key === undefined) return { kind: "never_sent", reason: "no_upstream_key" };
        const result = await withFreshKey(key, liveKey, (current) =>
          send({ group: "catalog", path: "/vtu/data", key: current, total_ms: upstreamBudget_ms(deadline) }),
        );
        const wait_ms = limit.wait_s("catalog") * 1_000;
        const isLimited = result.kind === "answered" && result.status === 429;
        if (!isLimited || upstreamBudget_ms(deadline) - wait_ms < BUDGET_MS_MIN) return result;
        await sleep(wait_ms);
      }
    },
  };
};

type Send = (call: {
  readonly group: RateGroup;
  readonly path: string;
  readonly key: string;
  readonly total_ms: number;
  readonly body?: Readonly<Record<string, string | number>>;
}) => Promise<Exchange>;

const sender =
  (baseUrl: string, limit: UpstreamLimit): Send =>
  async ({ group, path, key, total_ms, body }) => {
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
      { total_ms, bytesMax: body === undefined ? CATALOG_BYTES_MAX : ORDER_ANSWER_BYTES_MAX },
    );
    limit.note(group, result);
    return result;
  };

/**
 * Places one order. It is sent once more at most, and only after an answer which is certain to have refused it: a 401 while
 * the key was being rotated, or a 429 with a short wait. It is never sent again to find out what became of it.
 */
const placeOrder = async (request: OrderRequest, deadline: Deadline, liveKey: Secret, send: Send): Promise<Outcome> => {
  const attempt = (key: string): Promise<Exchange> =>
    upstreamBudget_ms(deadline) < BUDGET_MS_MIN
      ? Promise.resolve({ kind: "never_sent", reason: "no_time" })
      : send({ group: "vtu", key, total_ms: upstreamBudget_ms(deadline), ...request });

  const key = await liveKey.value();
  if (key === undefined) return { kind: "ours", reason: "no_upstream_key" };
  const first = await attempt(key);
  const outcome = classify(first);
  if (outcome.kind !== "ours" || first.kind !== "answered") return outcome;
  if (first.status === 401) return classify(await withFreshKeyAfter(first, key, liveKey, attempt));
  const wait_s = retryAfter_s(first);
  if (first.status !== 429 || wait_s === undefined || wait_s > ORDER_RETRY_AFTER_S_MAX) return outcome;
  await sleep(wait_s * 1_000);
  return classify(await attempt(key));
};

/** A read that met a 401 asks once for the key as it is now. */
const withFreshKey = async (
  key: string,
  liveKey: Secret,
  attempt: (key: string) => Promise<Exchange>,
): Promise<Exchange> => {
  const first = await attempt(key);
  return first.kind === "answered" && first.status === 401 ? withFreshKeyAfter(first, key, liveKey, attempt) : first;
};

const withFreshKeyAfter = async (
  refused: Exchange,
  key: string,
  liveKey: Secret,
  attempt: (key: string) => Promise<Exchange>,
): Promise<Exchange> => {
  const fresh = await liveKey.refetch().catch(() => undefined);
  return fresh === undefined || fresh === key ? refused : attempt(fresh);
};

type OrderRequest = ReturnType<typeof orderRequest>;
const orderRequest = (order: Order, reference: string) => ({
  path: "/vtu/data/purchase",
  body: {
    network_id: order.networkId,
    plan_id: order.planId,
    phone_number: order.phoneNumber,
    reference,
  },
});

const unavailable = (reason: string, retryAfterS: number): ServiceError => {
  log.warn("upstream.not_ready", { reason });
  return new ServiceError("provider_unavailable", { retryAfterS });
};
