import type { Deadline } from "../platform/deadline.ts";
import type { Kobo } from "../platform/money.ts";

/** What can be bought, in the upstream's own terms. */
export type Order = {
  readonly kind: "data";
  readonly networkId: number;
  readonly planId: number;
  readonly phoneNumber: string;
};

/** Fields of an order that an upstream may refuse, and that a caller of ours knows by the same name. */
export const orderFields = ["network_id", "plan_id", "phone_number", "network", "amount"] as const;
export type OrderField = (typeof orderFields)[number];

/** What the upstream calls an order, and what it charged us for it. */
export type UpstreamFacts = { readonly upstreamReference?: string; readonly upstreamAmountKobo?: Kobo };

/** What one order came to. Only `refused` and `ours` are certain not to be delivered. */
export type Outcome = UpstreamFacts &
  (
    | { readonly kind: "delivered" }
    /** A definite refusal. `fields` are the order's own fields that are to blame. */
    | { readonly kind: "refused"; readonly fields: readonly OrderField[] }
    /** Refused, or never sent, for a reason that is ours to mend: key, address, limit, our balance, the connection. */
    | { readonly kind: "ours"; readonly reason: string }
    /** It may have been delivered, or may yet be. An event will tell, or an operator. */
    | { readonly kind: "unknown"; readonly reason: string; readonly later?: LaterEvent }
  );

/** How a sandbox order ends afterwards, as an event would tell it. */
export type LaterEvent = { readonly status: "success" | "failed"; readonly after_s: number };

/** Whoever fulfils orders: the upstream over HTTP for live keys, the sandbox for test keys. */
export type Provider = {
  /** Throws a ServiceError when it is known, before any debit, that this order could not be placed now. */
  readonly assertReady: (order: Order, deadline: Deadline) => Promise<void>;
  /** Places one order under our reference, once. What is not certain is `unknown`. */
  readonly buy: (order: Order, reference: string, deadline: Deadline) => Promise<Outcome>;
};
