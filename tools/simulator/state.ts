import { randomBytes } from "node:crypto";
import { type Mode, RateCounters, type RateLimits } from "./access.ts";
import { builtInCatalogBody } from "./catalog.ts";
import { FaultPlan } from "./faults.ts";
import type { Manner } from "./manner.ts";
import { Timers } from "./timers.ts";

type OrderStatus = "processing" | "success" | "failed";
export type OrderType =
  | "data"
  | "airtime"
  | "nin_verification"
  | "bvn_verification"
  | "nin_retrieval"
  | "bvn_retrieval";

/** An accepted order. `reference` is the caller's, `upstreamReference` the simulator's own. */
export type Order = {
  readonly path: string;
  readonly type: OrderType;
  readonly reference: string | null;
  readonly upstreamReference: string;
  readonly mode: Mode;
  readonly keyUsed: string;
  readonly amountKobo: number;
  status: OrderStatus;
  readonly networkName: string | null;
  readonly phoneNumber: string | null;
  readonly body: unknown;
  readonly at: string;
};

/** A well-formed purchase or identity request, accepted or not, with the name of its outcome. */
type RecordedRequest = {
  readonly path: string;
  readonly mode: Mode;
  readonly reference: string | null;
  readonly body: unknown;
  readonly outcome: string;
  readonly at: string;
};

/** One attempt to deliver an event; `status` is the receiver's HTTP status, null without a response. */
export type EventDelivery = {
  readonly url: string;
  readonly body: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly at: string;
};
export type Webhook = { readonly url: string; readonly secret: string };

export type SimulatorSettings = {
  readonly liveKeys: readonly string[];
  readonly testKey?: string | undefined;
  readonly webhook?: Webhook | undefined;
  readonly startBalanceKobo: number;
  /** How long the connection of a stalled request stays open. */
  readonly stallMs: number;
  /** How long a delayed order takes to settle. */
  readonly delayedOutcomeMs: number;
  readonly limits: RateLimits;
  /** The time in which the limits hold. */
  readonly windowMs: number;
  readonly manner: Manner;
  /**
   * Which orders may carry the caller's `reference`: all, or those for which the document shows it. Only a strict upstream
   * refuses the others.
   */
  readonly references: "all" | "documented";
  /** Whether it takes a virtual NIN in place of a NIN, which the document does not show. */
  readonly virtualNin: boolean;
};

type NewOrder = Omit<Order, "upstreamReference" | "status" | "at"> & { readonly prefix: string };

const LOOPBACK = ["127.0.0.1", "::1"];

/** The simulator's whole state. Tests read and change it directly; `reset` restores everything except the webhook. */
export class SimulatorState {
  readonly settings: SimulatorSettings;
  readonly faults = new FaultPlan();
  readonly rates: RateCounters;
  readonly timers = new Timers();
  /** Aborted when the simulator stops, so a receiver that does not respond cannot delay it. */
  readonly stopping = new AbortController();
  webhook: Webhook | undefined;
  limits: RateLimits;
  whitelist: string[] = [...LOOPBACK];
  restricted = false;
  /** Live keys of other accounts, which are restricted. */
  readonly restrictedKeys = new Set<string>();
  /** Phone numbers whose orders are refused with 429, as by a rule against duplicates; the key's limit is not spent. */
  readonly limitedRecipients = new Set<string>();
  /** By the reference that is asked for: fields that the answer to a lookup has instead of the order's own. */
  readonly lookupChanges = new Map<string, Readonly<Record<string, unknown>>>();
  /** References that a lookup does not find, as of an order that is still on its way through the upstream. */
  readonly unlisted = new Set<string>();
  catalogBody: unknown = builtInCatalogBody();
  balanceKobo: number;
  purchases: Order[] = [];
  requests: RecordedRequest[] = [];
  deliveries: EventDelivery[] = [];
  /** By mode. A set, because a load test places too many orders to search them for each request. */
  readonly #usedReferences: Readonly<Record<Mode, Set<string>>> = { live: new Set(), test: new Set() };

  constructor(settings: SimulatorSettings) {
    this.settings = settings;
    this.rates = new RateCounters(settings.windowMs);
    this.webhook = settings.webhook;
    this.limits = settings.limits;
    this.balanceKobo = settings.startBalanceKobo;
  }

  reset(): void {
    this.faults.clear();
    this.rates.clear();
    this.timers.clear();
    this.limits = this.settings.limits;
    this.whitelist = [...LOOPBACK];
    this.restricted = false;
    this.restrictedKeys.clear();
    this.limitedRecipients.clear();
    this.lookupChanges.clear();
    this.unlisted.clear();
    this.catalogBody = builtInCatalogBody();
    this.balanceKobo = this.settings.startBalanceKobo;
    this.purchases = [];
    this.requests = [];
    this.deliveries = [];
    for (const references of Object.values(this.#usedReferences)) references.clear();
  }

  /** An accepted order, by the caller's reference or by ours. */
  findOrder(mode: Mode, reference: string): Order | undefined {
    if (this.unlisted.has(reference)) return undefined;
    return this.purchases.find(
      (order) => order.mode === mode && (order.reference === reference || order.upstreamReference === reference),
    );
  }

  /** True if an order of this mode was accepted with the caller's reference. */
  isReferenceUsed(mode: Mode, reference: string): boolean {
    return this.#usedReferences[mode].has(reference);
  }

  /**
   * Accepts an order and, in live mode, debits its price; undefined if the balance is insufficient.
   * Source: docs/interface.md 3.1, 13.1.
   */
  acceptOrder({ prefix, ...order }: NewOrder): Order | undefined {
    const isLive = order.mode === "live";
    if (isLive && this.balanceKobo < order.amountKobo) return undefined;
    if (isLive) this.balanceKobo -= order.amountKobo;
    const upstreamReference = `${isLive ? prefix : "TEST"}_${randomBytes(10).toString("hex").toUpperCase()}`;
    const accepted: Order = {
      ...order,
      upstreamReference,
      status: "processing",
      at: new Date(Date.now()).toISOString(),
    };
    this.purchases.push(accepted);
    if (order.reference !== null) this.#usedReferences[order.mode].add(order.reference);
    return accepted;
  }

  /** Settles an open order and refunds a failed one. A final status does not change. Source: docs/interface.md 8.2. */
  settle(order: Order, status: "success" | "failed"): void {
    if (order.status !== "processing") return;
    order.status = status;
    if (status === "failed" && order.mode === "live") this.balanceKobo += order.amountKobo;
  }
}
