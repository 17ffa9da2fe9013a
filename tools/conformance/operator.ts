import { MINUTE_MS } from "../../shared/contract/values/durations.ts";
import { findByCallerReference, openTransactions } from "../../shared/ledger/find-transactions.ts";
import { referenceOf, type Transaction } from "../../shared/ledger/transaction.ts";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { isoTime, sleep } from "../../shared/platform/time.ts";
import { resolveTransaction } from "../../shared/upstream-events/operator-resolution.ts";
import type { Order } from "../simulator/state.ts";
import type { KillableService } from "./killable-service.ts";
import type { Outcome } from "./shop.ts";

/** How often the ledger is asked for the outcome of orders that are `processing`. */
const READ_MS = 500;
const TICK_MS = 50;
/** An operator waits until no request can be in flight; here their process is dead. */
const IN_FLIGHT_MS_MAX = MINUTE_MS;

const TRIES = 5;
const RETRY_MS = 1_000;

/** On a busy machine the emulators can miss the time-outs of AWS calls. */
export const withRetries = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries === TRIES) throw error;
      await sleep(RETRY_MS);
    }
  }
};

type CallerOrder = { readonly accountId: string; readonly callerReference: string };

export const readOrder = async (
  service: KillableService,
  { accountId, callerReference }: CallerOrder,
): Promise<Transaction | undefined> => {
  const { ledger, keyedHashes } = await service.admin();
  return findByCallerReference(ledger, await keyedHashes(), { accountId, mode: "live" }, callerReference);
};

/**
 * Does what concerns the service's tables beside the clients, one after the other, because nothing can be read while
 * the service is killed.
 */
export class Operator {
  readonly #service: KillableService;
  readonly #awaited = new Map<CallerOrder, (outcome: Outcome | undefined) => void>();
  #readAtMs = 0;
  /** Until what the last kill left open is resolved. */
  #killedAt: number | undefined;
  #hasEnded = false;

  constructor(service: KillableService) {
    this.#service = service;
  }

  /** The final status of a transaction that an answer says exists; undefined if there is none. */
  outcomeOf(order: CallerOrder): Promise<Outcome | undefined> {
    return new Promise((resolve) => this.#awaited.set(order, resolve));
  }

  end(): void {
    this.#hasEnded = true;
  }

  /** Works until `end` is called. `isKillDue` is asked at each turn. */
  async work(fund: () => Promise<void>, isKillDue: () => boolean): Promise<void> {
    while (!this.#hasEnded) {
      await withRetries(fund);
      if (isKillDue()) await this.#kill();
      if (performance.now() > this.#readAtMs + READ_MS) {
        this.#readAtMs = performance.now();
        await withRetries(() => this.#read());
      }
      await sleep(TICK_MS);
    }
  }

  async #kill(): Promise<void> {
    await this.#service.kill();
    this.#killedAt = Date.now();
    await this.#service.start();
  }

  async #read(): Promise<void> {
    if (this.#killedAt !== undefined && (await resolveAbandoned(this.#service, this.#killedAt))) {
      this.#killedAt = undefined;
    }
    for (const [order, resolve] of this.#awaited) {
      const status = (await readOrder(this.#service, order))?.status;
      if (status === "processing") continue;
      this.#awaited.delete(order);
      resolve(status);
    }
  }
}

/**
 * What an operator does after a crash: a transaction that the killed process left open is what the upstream says. True
 * once none is open; the upstream can take some seconds.
 */
const resolveAbandoned = async (service: KillableService, killedAt: number): Promise<boolean> => {
  const admin = await service.admin();
  const ledger = { ...admin.ledger, clock: () => admin.ledger.clock() + IN_FLIGHT_MS_MAX };
  const abandoned = await openTransactions(ledger, { from: "0000", to: isoTime(killedAt) });
  const decision = { by: "conformance", why: "the upstream's list" };
  for (const transaction of abandoned) {
    const status = service.simulator.state.purchases.find((order) => isOf(transaction, order))?.status ?? "failed";
    if (status === "processing") continue;
    await resolveTransaction(ledger, transaction, status, decision).catch((error: unknown) => {
      // The upstream's event came first.
      if (!(error instanceof OperatorError)) throw error;
    });
  }
  return abandoned.length === 0;
};

/** An upstream that takes no reference for the kind of order has none in its list. */
const isOf = (transaction: Transaction, { reference, phoneNumber, amountKobo, at }: Order): boolean =>
  reference === null
    ? phoneNumber === transaction.phone_number && amountKobo === transaction.amount_kobo && at >= transaction.created_at
    : reference === referenceOf(transaction);
