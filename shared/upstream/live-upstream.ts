import type { RateGroup } from "../contract/limits.ts";
import type { Deadline } from "../platform/deadline.ts";
import type { Secret } from "../platform/secrets.ts";
import type { Clock } from "../platform/time.ts";
import type { BalanceAnswer } from "./balance.ts";
import type { ExchangeResult } from "./exchange.ts";
import type { LookupAnswer } from "./lookup.ts";
import type { UpstreamProfile } from "./profile.ts";
import type { Upstream } from "./upstream.ts";

export type UpstreamAccess = {
  /** Ends with `/v1`. */
  readonly baseUrl: string;
  readonly profile: UpstreamProfile;
  /** One live key, or several, one per line. */
  readonly liveKey: Secret;
  readonly clock?: Clock;
};

/** The upstream of live keys. */
export type LiveUpstream = Upstream & {
  /** Requests that the upstream still takes before its limit, as far as this process knows. */
  readonly requestsLeft: (group: RateGroup) => number;
  /** Requests that the upstream takes in a minute. */
  readonly perMinute: (group: RateGroup) => number;
  /** A 429 is retried after its wait, while the deadline allows. */
  readonly fetchCatalog: (deadline: Deadline) => Promise<ExchangeResult>;
};

/** Asks the upstream. It places no order, and sends no requests but those of a lookup and of the balance. */
export type UpstreamReader = {
  /** `reference` is one that the upstream knows. Absent if it cannot be asked for an order. */
  readonly lookUp?: (reference: string, deadline: Deadline) => Promise<LookupAnswer>;
  /** Absent if it cannot be asked for our balance. */
  readonly readBalance?: (deadline: Deadline) => Promise<BalanceAnswer>;
  /** Seconds until the limit is free; 0 if it is free. */
  readonly waitS: () => number;
};
