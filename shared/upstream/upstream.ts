import type { FinalStatus } from "../contract/final-status.ts";
import type { IdentityMode } from "../contract/identity.ts";
import type { RateGroup } from "../contract/limits.ts";
import type { Kobo } from "../contract/values/money.ts";
import type { Deadline } from "../platform/deadline.ts";

/** A purchase in the upstream's terms. */
export type UpstreamOrder =
  | { readonly kind: "data"; readonly networkId: number; readonly planId: number; readonly phoneNumber: string }
  | { readonly kind: "airtime"; readonly network: string; readonly amountKobo: Kobo; readonly phoneNumber: string };

/** Which record is requested (`idType`), and by which number. */
export type IdentityCheck = {
  readonly kind: "identity";
  readonly idType: "nin" | "bvn";
  readonly by: { readonly number: string; readonly mode: IdentityMode } | { readonly phoneNumber: string };
};

/** Fields that an upstream may refuse and that our callers know by the same name. */
export const orderFields = ["network_id", "plan_id", "phone_number", "network", "amount", "nin", "bvn"] as const;
export type OrderField = (typeof orderFields)[number];

/** The upstream's reference of an order, and what it charged us. */
export type UpstreamFacts = { readonly upstreamReference?: string; readonly upstreamAmountKobo?: Kobo };

/** Reason of an `account_error`: the upstream's rate limit refused the order. */
export const RATE_LIMITED = "rate_limited";
/** Reason of an `account_error`: a 429 about this order only, such as of a limit for one recipient. */
export const ORDER_LIMITED = "order_limited";
/** Reason of an `account_error`: the upstream refused the order for our balance there. */
export const UPSTREAM_BALANCE = "upstream_balance";
/** Reason of an `account_error`, and of a refused catalog: nothing was sent, because the upstream's key is absent. */
export const NO_UPSTREAM_KEY = "no_upstream_key";
/** Reason of an `account_error`: nothing was sent, because the request had no time left. */
export const NO_TIME = "no_time";

/** Reason of an `account_error`: nothing was sent, because the order's turn was over (`Beginning`). */
export const TURN_OVER = "turn_over";

/**
 * When the request of a queued order may begin. It is not sent again with the same key after a 429: later orders
 * follow.
 */
export type Beginning = {
  /** Asked just before the first byte; false if the order may not be sent any more. */
  readonly mayBegin: () => boolean;
  /** Called just before the first byte. */
  readonly begun: () => void;
};

/** The outcome of a purchase. Only `refused` and `account_error` are certainly not delivered. */
export type Outcome = UpstreamFacts &
  (
    | { readonly kind: "delivered" }
    /**
     * A definite refusal. `fields` are the order's fields that caused it. `status`: what the upstream answered, where it was
     * asked over HTTP.
     */
    | { readonly kind: "refused"; readonly fields: readonly OrderField[]; readonly status?: number }
    /**
     * Refused, or never sent, because of our account at the upstream or the connection: key, address, limit, balance.
     */
    | { readonly kind: "account_error"; readonly reason: string }
    /** Possibly delivered, now or later. An event or an operator settles it. */
    | { readonly kind: "unknown"; readonly reason: string; readonly later?: LaterEvent }
  );

/** How a sandbox order settles later, as by an event of the upstream; or as one that `waits` for its limit. */
type LaterEvent = { readonly status: FinalStatus; readonly afterS: number; readonly waits?: true };

/** The outcome of a check. Only `found` is charged. */
export type CheckOutcome = UpstreamFacts &
  (
    | { readonly kind: "found"; readonly record: Readonly<Record<string, unknown>> }
    | { readonly kind: "no_record" }
    | Extract<Outcome, { kind: "refused" | "account_error" | "unknown" }>
  );

/** Why purchases wait, in milliseconds since the epoch. 0 if they do not for this cause. */
export type UpstreamBlocks = {
  /** Until then the limit of every key is spent. */
  readonly limitUntilMs: number;
  /**
   * Until then no order is sent, because something else answered in the upstream's place. After that orders go one at a
   * time until the upstream itself answers one; another foreign answer prolongs it.
   */
  readonly unrecognizedUntilMs: number;
};

/** Fulfils orders: over HTTP for live keys, by the sandbox for test keys. */
export type Upstream = {
  /** Which upstream it is. One with another URL may have other plans under the ids of an order. */
  readonly baseUrl: string;
  /**
   * Throws a ServiceError if it is known before the debit that the order could not be placed now. An order that may
   * wait is not refused for the rate limit.
   */
  readonly assertReady: (
    request: UpstreamOrder | IdentityCheck,
    deadline: Deadline,
    options?: { readonly mayWait?: boolean },
  ) => Promise<void>;
  /** Seconds until the group's rate limit is free, as far as this process knows; 0 if it is free. */
  readonly waitS: (group: RateGroup) => number;
  /** Why purchases wait, as far as this process knows. */
  readonly blocks: () => UpstreamBlocks;
  /** Takes over what other processes found out. */
  readonly learnBlocks: (shared: UpstreamBlocks) => void;
  /** Places an order once, under our reference. */
  readonly buy: (
    order: UpstreamOrder,
    reference: string,
    deadline: Deadline,
    beginning?: Beginning,
  ) => Promise<Outcome>;
  /** Requests a record once, under our reference. */
  readonly check: (check: IdentityCheck, reference: string, deadline: Deadline) => Promise<CheckOutcome>;
};
