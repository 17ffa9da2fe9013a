import { requireAccount } from "../access/account-store.ts";
import type { statisticsActions } from "../contract/actions/statistics.ts";
import { HOUR_MS } from "../contract/values/durations.ts";
import { nairaFromKobo } from "../contract/values/money.ts";
import { dateIn } from "../contract/values/time-zone.ts";
import { readWallet } from "../ledger/wallet.ts";
import { orNull } from "../platform/or-null.ts";
import { isoTime } from "../platform/time.ts";
import { readDailyBalances } from "../statistics/daily-balances.ts";
import { type EndedCount, LATENCY_BOUNDS_MS, readAccountDays, readHours } from "../statistics/hourly-counts.ts";
import type { ActionRuns } from "./action-runs.ts";

export const endedCountView = ({ kobo, latency, quarters: _, ...count }: EndedCount) => ({
  ...count,
  amount: nairaFromKobo(kobo),
  latency: [...latency],
});

export const statisticsRuns: ActionRuns<typeof statisticsActions> = {
  "statistics show": async ({ ledger, purchases: cache, timeZone }, { hours }) => {
    const nowMs = ledger.clock();
    const shown = await readHours(cache, nowMs - (hours - 1) * HOUR_MS, nowMs);
    return {
      time_zone: timeZone,
      latency_bounds_ms: [...LATENCY_BOUNDS_MS],
      hours: shown.map(({ hourMs, counts }) => ({
        hour: isoTime(hourMs),
        counts: counts.map(endedCountView),
      })),
    };
  },

  "statistics account": async ({ accounts, ledger, purchases: cache, timeZone }, { account, days }) => {
    await requireAccount(accounts, account);
    const counted = await readAccountDays({ ...cache, timeZone }, account, days, ledger.clock());
    return {
      account_id: account,
      latency_bounds_ms: [...LATENCY_BOUNDS_MS],
      days: counted.map(({ counts, failures, day }) => ({
        day,
        counts: counts.map(endedCountView),
        failures: [...failures],
      })),
    };
  },

  "statistics balances": async ({ accounts, ledger, purchases: cache, timeZone }, { account, days }) => {
    const since = dateIn(Date.parse((await requireAccount(accounts, account)).created_at), timeZone);
    const [known, wallet] = await Promise.all([
      readDailyBalances({ ...cache, timeZone }, account, days, ledger.clock(), since),
      readWallet(ledger, account),
    ]);
    return {
      account_id: account,
      // The last day is today: its balance is known exactly.
      balances: known.map(({ day, balanceKobo }, index) => {
        const kobo = index === known.length - 1 ? wallet.balance_kobo : balanceKobo;
        return { day, balance: orNull(kobo, nairaFromKobo) };
      }),
    };
  },
};
