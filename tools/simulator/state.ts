import { randomBytes } from "node:crypto";
import { type Mode, RateCounters, type RateLimits } from "./access.ts";
import { builtInCatalogBody } from "./catalog.ts";
import { FaultPlan } from "./faults.ts";
import { Timers } from "./timers.ts";

type OrderStatus = "processing" | "success" | "failed";
export type OrderType =
  | "data"
  | "airtime"
  | "nin_verification"
  | "bvn_verification"
  | "nin_retrieval"
  | "bvn_retrieval";

/** An order that the simulator took. `reference` is the caller's, `upstreamReference` the simulator's own. */
export type Order = {
  path: string;
  type: OrderType;
  reference: string | null;
  upstreamReference: string;
  mode: Mode;
  keyUsed: string;
  amountKobo: number;
  status: OrderStatus;
  networkName: string | null;
  phoneNumber: string | null;
  body: unknown;
  at: string;
};

/** A well-formed purchase or identity request, taken or not; `outcome` says what became of it. */
export type SeenRequest = {
  path: string;
  keyKind: Mode;
  reference: string | null;
  body: unknown;
  outcome: string;
  at: string;
};

/** One attempt to deliver an event; `status` is the receiver's, null if it gave none. */
export type Delivery = { url: string; body: string; status: number | null; error: string | null; at: string };
export type Webhook = { url: string; secret: string };

export type Settings = {
  liveKey: string;
  testKey: string | undefined;
  webhook: Webhook | undefined;
  startBalanceKobo: number;
  slowAnswerMs: number;
  delayedOutcomeMs: number;
  limits: RateLimits;
};

type NewOrder = Omit<Order, "upstreamReference" | "status" | "at"> & { prefix: string };

const LOOPBACK = ["127.0.0.1", "::1"];

/** All that the simulator knows. Tests read and change it directly; `reset` makes it new, except for the webhook. */
export class SimulatorState {
  readonly settings: Settings;
  readonly faults = new FaultPlan();
  readonly rates = new RateCounters();
  readonly timers = new Timers();
  /** Aborted when the simulator stops: a receiver that does not answer must not hold it up. */
  readonly stopping = new AbortController();
  webhook: Webhook | undefined;
  limits: RateLimits;
  whitelist: string[] = [...LOOPBACK];
  restricted = false;
  catalogBody: unknown = builtInCatalogBody();
  balanceKobo: number;
  purchases: Order[] = [];
  requests: SeenRequest[] = [];
  deliveries: Delivery[] = [];
  /** Used references, by mode; a load test makes too many orders to search. */
  readonly #usedReferences: Record<Mode, Set<string>> = { live: new Set(), test: new Set() };

  constructor(settings: Settings) {
    this.settings = settings;
    this.webhook = settings.webhook;
    this.limits = { ...settings.limits };
    this.balanceKobo = settings.startBalanceKobo;
  }

  reset(): void {
    this.faults.clear();
    this.rates.clear();
    this.timers.clear();
    this.limits = { ...this.settings.limits };
    this.whitelist = [...LOOPBACK];
    this.restricted = false;
    this.catalogBody = builtInCatalogBody();
    this.balanceKobo = this.settings.startBalanceKobo;
    this.purchases = [];
    this.requests = [];
    this.deliveries = [];
    for (const used of Object.values(this.#usedReferences)) used.clear();
  }

  /** True when an order of that mode was taken under the caller's reference. */
  isUsed(mode: Mode, reference: string): boolean {
    return this.#usedReferences[mode].has(reference);
  }

  /** Takes an order and, in live mode, its money; nothing happens when the wallet is too poor. Source: INTERFACE "Rules". */
  takeOrder({ prefix, ...order }: NewOrder): Order | undefined {
    const live = order.mode === "live";
    if (live && this.balanceKobo < order.amountKobo) return undefined;
    if (live) this.balanceKobo -= order.amountKobo;
    const upstreamReference = `${live ? prefix : "TEST"}_${randomBytes(10).toString("hex").toUpperCase()}`;
    const taken: Order = { ...order, upstreamReference, status: "processing", at: new Date().toISOString() };
    this.purchases.push(taken);
    if (order.reference !== null) this.#usedReferences[order.mode].add(order.reference);
    return taken;
  }

  /** Ends an order; a failed one gives its money back. A final status stays. Source: INTERFACE "States and transitions". */
  settle(order: Order, status: "success" | "failed"): void {
    if (order.status !== "processing") return;
    order.status = status;
    if (status === "failed" && order.mode === "live") this.balanceKobo += order.amountKobo;
  }
}
