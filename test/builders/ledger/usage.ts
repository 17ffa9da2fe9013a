import type { Ledger } from "../../../shared/ledger/ledger.ts";
import type { Transaction } from "../../../shared/ledger/transaction.ts";
import { readKeyUsages, type Usage, usageOn } from "../../../shared/ledger/usage.ts";
import { readWallet } from "../../../shared/ledger/wallet.ts";

const zero = { day_kobo: 0, day_orders: 0, month_kobo: 0, month_orders: 0 };

/** What the counters of a day must be: every order that was counted on it, or in its month, and is not refunded. */
export const recount = (
  transactions: readonly Pick<Transaction, "status" | "amount_kobo" | "counted">[],
  isCounted: (counted: NonNullable<Transaction["counted"]>) => boolean,
  day: string,
) => {
  const result = { ...zero };
  for (const { status, amount_kobo, counted } of transactions) {
    if (status === "failed" || counted === undefined || !isCounted(counted)) continue;
    if (counted.day === day) {
      result.day_kobo += amount_kobo;
      result.day_orders += 1;
    }
    if (counted.day.slice(0, 7) === day.slice(0, 7)) {
      result.month_kobo += amount_kobo;
      result.month_orders += 1;
    }
  }
  return result;
};

/** Where counters differ from a recount of an account's transactions, in a sentence each. */
export const wrongUsage = async (
  ledger: Ledger,
  accountId: string,
  transactions: readonly Transaction[],
): Promise<string[]> => {
  const keyIds = [...new Set(transactions.flatMap(({ counted }) => counted?.key_id ?? []))];
  const keys = await readKeyUsages(ledger, keyIds);
  const wallet = await readWallet(ledger, accountId);
  const compare = (name: string, usage: Usage, isCounted: Parameters<typeof recount>[1]): string[] => {
    const day = usage.usage_day;
    if (day === undefined) {
      return transactions.some(({ counted }) => counted !== undefined && isCounted(counted))
        ? [`${name} counts nothing`]
        : [];
    }
    const [counted, expected] = [usageOn(usage, day), recount(transactions, isCounted, day)];
    const isSame = JSON.stringify(counted) === JSON.stringify(expected);
    return isSame ? [] : [`${name} counts ${JSON.stringify(counted)}, and should count ${JSON.stringify(expected)}`];
  };
  return [
    ...compare("the account", wallet, ({ account }) => account === true),
    ...keyIds.flatMap((keyId) =>
      compare(keyId, keys.find(({ pk }) => pk.endsWith(`#${keyId}`)) ?? {}, ({ key_id }) => key_id === keyId),
    ),
  ];
};
