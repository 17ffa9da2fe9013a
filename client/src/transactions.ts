import type { Received, ServiceRequest } from "./attempt.ts";
import { type Cancellation, cancelOrder } from "./cancel.ts";
import type { Transaction, TransactionStatus, TransactionType } from "./contract-types.ts";
import { AbortedError, NoAnswerError, NotFoundError, ServiceError, WaitEndedError } from "./errors.ts";
import { isRecord } from "./field-names.ts";
import { type CallOptions, send } from "./send.ts";
import { parseMs, type Settings } from "./settings.ts";
import { sleep } from "./sleep.ts";
import { checkReference, isTransaction } from "./transaction.ts";

/** A transaction whose status is final. */
export type FinalTransaction = Transaction & { status: "success" | "failed" };

/** Filters of the list. `from` and `to` are inclusive; a date alone, such as `2026-11-21`, is that whole day in UTC. */
export type TransactionFilter = {
  readonly status?: TransactionStatus;
  readonly type?: TransactionType;
  readonly from?: string | Date;
  readonly to?: string | Date;
};

const WAIT_TIMEOUT_MS = 120_000;
const FIRST_POLL_MS = 1_000;
const POLL_MS_MAX = 10_000;
/** A lookup with less time would hardly be answered. */
const LOOKUP_MS_MIN = 100;

/** Lookups of transactions. */
export class Transactions {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /**
   * One transaction, by the service's reference or yours. Throws a `NotFoundError` if there is none so far; a request
   * that is under way can still make one.
   */
  async get(reference: string, options: CallOptions = {}): Promise<Transaction> {
    const path = `/transactions/${checkReference(reference)}`;
    return send(
      this.#settings,
      {
        operation: "getTransaction",
        method: "GET",
        path,
        read: ({ data }) =>
          isRecord(data) &&
          isTransaction<Transaction>(this.#settings, data.transaction) &&
          [data.transaction.reference, data.transaction.callerReference].includes(reference)
            ? data.transaction
            : undefined,
      },
      options,
    );
  }

  /**
   * Looks a transaction up until its status is final. `success` was delivered, `failed` was refunded. Throws a
   * `WaitEndedError` after `timeoutMs` (default 120,000), if `signal` aborts and if a lookup is refused. It says
   * nothing about the order, which may be paid: so it is neither a `ServiceError` nor an `AbortedError`.
   */
  async wait(reference: string, { timeoutMs = WAIT_TIMEOUT_MS, signal }: CallOptions = {}): Promise<FinalTransaction> {
    checkReference(reference);
    const deadline = performance.now() + parseMs("timeoutMs", timeoutMs);
    let transaction: Transaction | undefined;
    let cause: unknown;
    for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 1.5, POLL_MS_MAX)) {
      const leftMs = deadline - performance.now();
      if (leftMs < LOOKUP_MS_MIN) throw new WaitEndedError(reference, transaction, cause);
      try {
        transaction = await this.get(reference, { timeoutMs: leftMs, ...(signal && { signal }) });
        if (isFinal(transaction)) return transaction;
        cause = undefined;
      } catch (error) {
        cause = error instanceof AbortedError ? error.cause : error;
        if (!mayPass(error)) throw new WaitEndedError(reference, transaction, cause);
      }
      await sleep(Math.min(pollMs * (0.75 + Math.random() / 2), Math.max(deadline - performance.now(), 0)), signal);
    }
  }

  /**
   * Gives an order up: no request with this reference places it from now on, also none that is still on its way.
   * Returns the transaction: `failed` if the order was not placed or failed before, else `success` or `processing` as
   * it is.
   */
  async cancel(order: Cancellation, options: CallOptions = {}): Promise<Transaction> {
    checkReference(order.reference);
    return cancelOrder(this.#settings, order, options);
  }

  /** Your transactions, newest first. Further pages are read as the loop goes on. */
  async *list(filter: TransactionFilter = {}, options: CallOptions = {}): AsyncGenerator<Transaction, void, undefined> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(filter)) {
      if (value !== undefined) query.set(name, value instanceof Date ? value.toISOString() : value);
    }
    for (;;) {
      const page = await send(this.#settings, listRequest(this.#settings, filter, query), options);
      yield* page.transactions;
      if (page.nextCursor === null) return;
      query.set("cursor", page.nextCursor);
    }
  }
}

type Page = { readonly transactions: readonly Transaction[]; readonly nextCursor: string | null };

const listRequest = (
  settings: Settings,
  { status, type }: TransactionFilter,
  query: URLSearchParams,
): ServiceRequest<Page> => ({
  operation: "listTransactions",
  method: "GET",
  path: `/transactions?${query}`,
  read: ({ data }: Received) => {
    if (!isRecord(data) || !Array.isArray(data.transactions)) return undefined;
    const isListed = (value: unknown): value is Transaction =>
      isTransaction<Transaction>(settings, value) &&
      value.status === (status ?? value.status) &&
      value.type === (type ?? value.type);
    const { transactions, nextCursor } = data;
    // The page of another list, or the one before: its cursor would be followed for ever.
    if (!transactions.every(isListed) || (nextCursor !== null && nextCursor === query.get("cursor"))) return undefined;
    return nextCursor === null || typeof nextCursor === "string" ? { transactions, nextCursor } : undefined;
  },
});

const isFinal = (transaction: Transaction): transaction is FinalTransaction =>
  transaction.status === "success" || transaction.status === "failed";

/** The order's request may still be under way, and the service may answer the next lookup. */
const mayPass = (error: unknown): boolean =>
  error instanceof NotFoundError ||
  error instanceof NoAnswerError ||
  (error instanceof ServiceError && (error.retryAfterS !== undefined || error.status >= 500));
