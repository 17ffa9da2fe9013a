import type { IdentityMode } from "../contract/identity.ts";
import type { Deadline } from "../platform/deadline.ts";
import type { Kobo } from "../platform/money.ts";

/** What can be bought, in the upstream's own terms. */
export type UpstreamOrder =
  | { readonly kind: "data"; readonly networkId: number; readonly planId: number; readonly phoneNumber: string }
  | { readonly kind: "airtime"; readonly network: string; readonly amountKobo: Kobo; readonly phoneNumber: string };

/** Whose record is asked for, and how it is found. */
export type IdentityCheck = {
  readonly kind: "identity";
  readonly subject: "nin" | "bvn";
  readonly by: { readonly number: string; readonly mode: IdentityMode } | { readonly phoneNumber: string };
};

/** Fields of an order or check that an upstream may refuse, and that a caller of ours knows by the same name. */
export const orderFields = ["network_id", "plan_id", "phone_number", "network", "amount", "nin", "bvn"] as const;
export type OrderField = (typeof orderFields)[number];

/** What the upstream calls an order, and what it charged us for it. */
export type UpstreamFacts = { readonly upstreamReference?: string; readonly upstreamAmountKobo?: Kobo };

/** The reason of an `ours` where the upstream's rate limit refused the order. */
export const RATE_LIMITED = "rate_limited";

/** What one order came to. Only `refused` and `ours` are certain not to be delivered. */
export type Outcome = UpstreamFacts &
  (
    | { readonly kind: "delivered" }
    /** A definite refusal. `fields` are the order's own fields that are to blame. */
    | { readonly kind: "refused"; readonly fields: readonly OrderField[] }
    /** Refused, or never sent, for a reason that is ours to mend: key, address, limit, our balance, the connection. */
    | { readonly kind: "account_error"; readonly reason: string }
    /** It may have been delivered, or may yet be. An event will tell, or an operator. */
    | { readonly kind: "unknown"; readonly reason: string; readonly later?: LaterEvent }
  );

/** How a sandbox order ends afterwards, as an event would tell it. */
type LaterEvent = { readonly status: "success" | "failed"; readonly afterS: number };

/** Reason of an `unknown` check: a 404 that is not in the upstream's envelope. Its address, or a route, is probably wrong. */
export const UNRECOGNIZED_404 = "unrecognized_404";

/** What one check came to. Only `found` is charged for. */
export type CheckOutcome = UpstreamFacts &
  (
    | { readonly kind: "found"; readonly record: Readonly<Record<string, unknown>> }
    | { readonly kind: "no_record" }
    | Extract<Outcome, { kind: "refused" | "account_error" | "unknown" }>
  );

/** Whoever fulfils orders: the upstream over HTTP for live keys, the sandbox for test keys. */
export type Upstream = {
  /** Throws a ServiceError when it is known, before any debit, that this could not be placed now. */
  readonly assertReady: (request: UpstreamOrder | IdentityCheck, deadline: Deadline) => Promise<void>;
  /** Places one order under our reference, once. What is not certain is `unknown`. */
  readonly buy: (order: UpstreamOrder, reference: string, deadline: Deadline) => Promise<Outcome>;
  /** Asks once for one person's record. */
  readonly check: (check: IdentityCheck, reference: string, deadline: Deadline) => Promise<CheckOutcome>;
};
