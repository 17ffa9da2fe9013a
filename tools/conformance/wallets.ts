import { createAccount } from "../../shared/access/accounts.ts";
import { createKey } from "../../shared/access/keys.ts";
import { ALL_ENTITLEMENTS } from "../../shared/contract/permission.ts";
import { koboFromNaira, nairaFromKobo } from "../../shared/contract/values/money.ts";
import { fundWallet } from "../../shared/ledger/ledger-entry.ts";
import { readWallet } from "../../shared/ledger/wallet.ts";
import { sum } from "../../shared/platform/sum.ts";
import type { KillableService } from "./killable-service.ts";

/** How often wallets are funded, so that orders are refused for the balance, and copies of them placed later. */
const FUNDINGS_MIN = 2;
const FUNDINGS_MAX = 10;
const ORDERS_PER_FUNDING = 20;
/** How long a wallet is short before the next funding. */
const SHORT_MS = 1_500;
const WALLETS_READ_MS = 100;
/** A key may send 60 requests per minute: 3 orders, with their retries. */
const ORDERS_PER_KEY = 3;
const KEYS_MIN = 2;
const KEYS_MAX = 20;

/** An account, and the prices of what it is going to order. */
export type Wallet = {
  readonly accountId: string;
  readonly keys: readonly string[];
  readonly pricesNaira: readonly number[];
};

export const openWallet = async (service: KillableService, pricesNaira: readonly number[]): Promise<Wallet> => {
  const { accounts } = await service.admin();
  const { account_id: accountId } = await createAccount(accounts, {
    name: "conformance",
    whitelist: ["127.0.0.1"],
    entitlements: ALL_ENTITLEMENTS,
  });
  const wanted = Math.min(Math.max(Math.ceil(pricesNaira.length / ORDERS_PER_KEY), KEYS_MIN), KEYS_MAX);
  const keys: string[] = [];
  while (keys.length < wanted) {
    keys.push((await createKey(accounts, accountId, { mode: "live", permissions: ["vtu", "read"] })).key);
  }
  return { accountId, keys, pricesNaira };
};

/**
 * Funds the wallets bit by bit with what their orders cost: again when one of them has been short for a while, however
 * fast the machine is. The last funding adds as much again, for a client that buys twice.
 */
export const startFunding = (service: KillableService, wallets: readonly Wallet[]) => {
  const orders = sum(wallets.map(({ pricesNaira }) => pricesNaira.length));
  const count = Math.min(Math.max(Math.ceil(orders / ORDERS_PER_FUNDING), FUNDINGS_MIN), FUNDINGS_MAX);
  const largestNaira = Math.max(...wallets.flatMap(({ pricesNaira }) => pricesNaira));
  let made = 0;
  /** By the id of the funding, which makes it safe to repeat. */
  const funded = new Map<string, number>();
  let readAtMs = Number.NEGATIVE_INFINITY;
  let shortSinceMs: number | undefined;

  const readBalances = async (): Promise<readonly number[]> => {
    const { ledger } = await service.admin();
    const read = await Promise.all(wallets.map(({ accountId }) => readWallet(ledger, accountId)));
    return read.map(({ balance_kobo }) => nairaFromKobo(balance_kobo));
  };
  const isDue = async (): Promise<boolean> => {
    if (made === 0) return true;
    const nowMs = performance.now();
    if (made === count || nowMs < readAtMs + WALLETS_READ_MS) return false;
    readAtMs = nowMs;
    const isShort = (await readBalances()).some((naira) => naira < largestNaira);
    shortSinceMs = isShort ? (shortSinceMs ?? nowMs) : undefined;
    return shortSinceMs !== undefined && nowMs >= shortSinceMs + SHORT_MS;
  };
  return {
    /** Funds what is due. It can be repeated after an error. */
    fund: async (): Promise<void> => {
      if (!(await isDue())) return;
      const number = made + 1;
      const { ledger } = await service.admin();
      for (const { accountId, pricesNaira } of wallets) {
        const costNaira = sum(pricesNaira);
        const naira = Math.ceil(costNaira / count) + (number === count ? costNaira : 0);
        const fundingId = `${accountId}-${number}`;
        await fundWallet(ledger, { accountId, fundingId, amountKobo: koboFromNaira(naira) });
        funded.set(fundingId, naira);
      }
      made = number;
      shortSinceMs = undefined;
    },
    /** What the wallets were debited and not refunded. */
    chargedNaira: async (): Promise<number> => sum([...funded.values()]) - sum(await readBalances()),
  };
};
