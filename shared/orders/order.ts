import type { Caller } from "../call/call.ts";
import type { Entitlement } from "../contract/permission.ts";
import type { TransactionType } from "../contract/transaction.ts";
import type { Kobo } from "../contract/values/money.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Settlement } from "../ledger/settle-transaction.ts";
import type { Transaction } from "../ledger/transaction.ts";
import type { UpstreamCosts } from "../ledger/upstream-costs.ts";
import type { KeyedHashes } from "../platform/keyed-hashes.ts";
import type { PriceRules } from "../prices/price-list.ts";
import type { OutcomeQueue } from "./outcome-queue.ts";
import type { PurchasesGate } from "./purchases-switch.ts";

export type OrderDeps = {
  readonly ledger: Ledger;
  readonly keyedHashes: () => Promise<KeyedHashes>;
  readonly outcomeQueue: OutcomeQueue;
  /** Purchases that are `off` refuse every order before the debit; so does a switch that cannot be read. */
  readonly gate: PurchasesGate;
  readonly costs: UpstreamCosts;
  readonly prices: PriceRules;
  /** The stage's: the days and months of limits are its. */
  readonly timeZone: string;
};

export type OrderRequest = {
  readonly caller: Caller;
  readonly type: TransactionType;
  /** The entitlement whose quota it counts for. */
  readonly entitlement: Entitlement;
  /** The caller's own. */
  readonly callerReference: string | undefined;
  /** The normalised fields of the request: a replay has the same. */
  readonly fields: readonly string[];
};

/** What the caller pays, and what we expect to pay. */
export type Price = {
  readonly amountKobo: Kobo;
  /** What is ordered from the upstream, if it differs. */
  readonly faceKobo?: Kobo | undefined;
  /** Absent if it is unknown. */
  readonly costKobo?: Kobo | undefined;
  /** The rule that made the price, if one did. */
  readonly rule?: string | undefined;
};

export type Quote = Price & {
  readonly description: string;
  /** Its name, and its code in the catalog. */
  readonly network?: string;
  readonly networkCode?: string;
  readonly phoneNumber?: string;
};

/** When an order is queued instead of sent: never, only behind others of its account, or in any case. */
export type QueuePolicy = "never" | "behind_others" | "always";

/** What the upstream's outcome does to the ledger: a settlement now, another one after `afterS`, both, or nothing. */
export type Fulfilment = {
  readonly settlement?: Settlement;
  readonly later?: {
    readonly settlement: Settlement;
    readonly afterS: number;
    /** For the response of a sandbox order. */
    readonly estimatedS?: number;
  };
};

/** An order that this request has debited, as its response shows it. */
export type FinalisedOrder = {
  readonly transaction: Transaction;
  readonly replayed: false;
  readonly estimatedS?: number;
};

/** The transaction as it is when the response is sent. */
export type PlacedOrder = { readonly transaction: Transaction; readonly replayed: true } | FinalisedOrder;
