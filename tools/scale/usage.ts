import { type FunctionName, specOf } from "../../infra/functions.ts";
import { secretNames, secretTable } from "../../shared/platform/secret-table.ts";
import { SECRET_CACHE_MS } from "../../shared/platform/secrets.ts";
import { sum } from "../../shared/platform/sum.ts";
import { type Budget, budgets, type Invocation } from "../costs/budgets.ts";
import { assumed as assumedTimes, type Batches, durationMs } from "../costs/request-usage.ts";

/** What one delivered purchase causes: its request, an event of the upstream that comes after it, and a webhook. */
export const purchaseBudgets: readonly Budget[] = [budgets.purchase, budgets.duplicateEvent, budgets.webhook];

/** Write units of one delivered purchase with its webhook, by where they are consumed. A test counts them. */
export const writeUnits = {
  access: 1,
  /** The wallet's part of the debit: a write in a transaction costs twice. It is part of `ledger`. */
  wallet: 2,
  ledger: 6,
  by_list: { transaction: 1, delivery: 1 },
  by_upstream_reference: 1,
  by_phone: 1,
  /** One for opening the transaction, one for settling it. */
  by_open: 2,
};

/**
 * What an order adds that waits for the upstream's limit: beside the debit, the wait and the claim change the wallet.
 */
export const waiting = {
  walletWrites: 3,
  /** Units of one list of open orders: the order leaves it to wait, and is in it again while it is sent. */
  by_open: 4,
  /** The claim of an order, the upstream's response and the settlement. */
  sendS: (2 * assumedTimes.callMs + assumedTimes.waitMs.upstream) / 1_000,
};

/** Measured runs that are documented elsewhere. */
export const measured = {
  /**
   * docs/reliability.md, Busy wallets: the highest sustained rate of one wallet that was measured without a refusal.
   */
  walletDebits: { perS: 40, holdMs: 15 },
  /** docs/performance.md, Growth: the first reconciliation of 100,000 transactions took 5.1 s. */
  reconcileTransactionMs: 5_100 / 100_000,
};

/** Assumptions beside those of `npm run costs`. */
export const assumed = {
  keysPerAccount: 1,
  upstreamKeys: 1,
  upstreamAddresses: 1,
  /** AWS says that new accounts have fewer than 1,000, and not how many. */
  newAccountConcurrency: 10,
  /** A new table takes 4,000 write units, and a partition 1,000. */
  streamShards: 4,
};

/** Concurrent invocations of a purchase each second, of all functions or of one. */
export const invocationS = (name?: FunctionName, batches: Batches = "alone"): number =>
  sum(invocationsOf(name).map((invocation) => durationMs(invocation, batches) / 1_000));

export const invocationsOf = (name?: FunctionName): readonly Invocation[] =>
  purchaseBudgets
    .flatMap(({ invocations }) => invocations)
    .filter((invocation) => name === undefined || invocation.function === name);

/** Secrets that are fetched for one purchase: every instance fetches each of its function's again every 5 minutes. */
export const secretFetches = (): number =>
  sum(invocationsOf().map((invocation) => (durationMs(invocation) / SECRET_CACHE_MS) * fetchesOf(invocation.function)));

/** An upstream's secret that events present has two versions. */
const fetchesOf = (name: FunctionName): number =>
  sum(
    secretNames
      .map((secret) => secretTable[secret])
      .filter(({ variable }) => specOf(name).environment?.includes(variable))
      .map((spec) => ("isPresented" in spec ? 2 : 1)),
  );
