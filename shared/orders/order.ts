import type { Caller } from "../call/call.ts";
import type { Kobo } from "../contract/money.ts";
import type { TransactionType } from "../contract/transaction.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { RecordItem } from "../ledger/open-transaction.ts";
import type { Settlement } from "../ledger/settle-transaction.ts";
import type { OrderToSend, Transaction } from "../ledger/transaction.ts";
import type { WaitTarget } from "../ledger/waiting-order.ts";
import type { KeyedHashes } from "../platform/keyed-hashes.ts";
import type { OutcomeQueue } from "./outcome-queue.ts";
import type { PurchasesGate } from "./purchases-switch.ts";

export type OrderDeps = {
  readonly ledger: Ledger;
  readonly keyedHashes: () => Promise<KeyedHashes>;
  readonly outcomeQueue: OutcomeQueue;
  /** Purchases that are `off` refuse every order before the debit; so does a switch that cannot be read. */
  readonly gate: PurchasesGate;
};

/** An order, with the callbacks that price and fulfil it. */
export type OrderRequest<Priced extends Quote = Quote> = {
  readonly caller: Caller;
  readonly type: TransactionType;
  /** The caller's own. */
  readonly callerReference: string | undefined;
  /** The normalised fields of the request: a replay has the same. */
  readonly fields: readonly string[];
  /** Prices the order; throws a ServiceError to refuse it before the debit. */
  readonly quote: () => Promise<Priced>;
  /** Further items for the debit's write. */
  readonly records?: (transaction: Transaction, keyedHashes: KeyedHashes) => readonly RecordItem[];
  /** Sends the order upstream: called at most once, after the debit. */
  readonly fulfil: (transaction: Transaction, quote: Priced) => Promise<Fulfilment>;
  /** Absent for an order that never waits: it is sent at once, or refused. */
  readonly waiting?: Waiting<Priced>;
};

/** When an order waits for the upstream's rate limit, and how. */
export type Waiting<Priced extends Quote> = {
  /** Whether the order has to wait: the limit is known to be spent, or other orders wait. */
  readonly isNeeded: () => boolean;
  /** `reason`: the upstream's, if it was asked. */
  readonly wait: (quote: Priced, reason?: string) => Wait;
};

/** An order that begins to wait (shared/ledger/waiting-order.ts). */
export type Wait = {
  readonly order: OrderToSend;
  /** About how many seconds until it is sent, if `ahead` orders of its account go first; absent if not known. */
  readonly estimateS?: (ahead: number) => number;
} & Pick<WaitTarget, "refusals" | "claimed">;

export type Quote = {
  readonly amountKobo: Kobo;
  readonly description: string;
  readonly network?: string;
  readonly phoneNumber?: string;
};

/**
 * What the upstream's outcome does to the ledger: a settlement now, another one after `afterS`, both, or nothing; or
 * the order must wait, because the upstream's rate limit refused it.
 */
export type Fulfilment = {
  readonly settlement?: Settlement;
  readonly later?: {
    readonly settlement: Settlement;
    readonly afterS: number;
    /** For the response of a sandbox order. */
    readonly estimatedS?: number;
  };
  readonly wait?: Wait;
};

/** The transaction as it is when the response is sent. */
export type PlacedOrder = { readonly transaction: Transaction } & (
  | { readonly replayed: true }
  /** `isOutcomeSecured`: the settlement is written, or on the outcomes queue. */
  | { readonly replayed: false; readonly isOutcomeSecured: boolean; readonly estimatedS?: number }
);
