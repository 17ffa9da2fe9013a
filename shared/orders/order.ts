import type { TransactionType } from "../contract/transaction.ts";
import type { Caller } from "../lambda/api-handler.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { RecordItem } from "../ledger/open-transaction.ts";
import type { Settlement } from "../ledger/settle-transaction.ts";
import type { Transaction } from "../ledger/transaction.ts";
import type { KeyedHashes } from "../platform/keyed-hashes.ts";
import type { Kobo } from "../platform/money.ts";
import type { OutcomeQueue } from "./outcome-queue.ts";
import type { OnOrOff } from "./purchases-switch.ts";

export type OrderDeps = {
  readonly ledger: Ledger;
  readonly keyedHashes: () => Promise<KeyedHashes>;
  readonly outcomeQueue: OutcomeQueue;
  /** `off` refuses every order before the debit; so does a switch that cannot be read. */
  readonly purchases: () => Promise<OnOrOff>;
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
  /** Sends the order upstream: called once, after the debit. */
  readonly fulfil: (transaction: Transaction, quote: Priced) => Promise<Fulfilment>;
};

export type Quote = {
  readonly amountKobo: Kobo;
  readonly description: string;
  readonly network?: string;
  readonly phoneNumber?: string;
};

/** What the upstream's outcome does to the ledger: a settlement now, another one after `afterS`, both, or nothing. */
export type Fulfilment = {
  readonly settlement?: Settlement;
  readonly later?: { readonly settlement: Settlement; readonly afterS: number };
};

/** The transaction as it is when the response is sent. */
export type PlacedOrder = { readonly transaction: Transaction } & (
  | { readonly replayed: true }
  /** `isOutcomeSecured`: the settlement is written, or on the outcomes queue. */
  | { readonly replayed: false; readonly isOutcomeSecured: boolean }
);
