import { requireAccount } from "../access/account-store.ts";
import { STATISTICS_HOURS_MAX, type statisticsActions } from "../contract/actions/statistics.ts";
import { HOUR_MS } from "../contract/durations.ts";
import { nairaFromKobo } from "../contract/money.ts";
import { readWallet } from "../ledger/wallet.ts";
import { OperatorError } from "../platform/operator-error.ts";
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
  "statistics show": async ({ purchases: cache, timeZone }, { from, to }) => {
    const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
    if (toMs < fromMs) throw new OperatorError("The end must not be before the beginning");
    if (toMs - fromMs > (STATISTICS_HOURS_MAX - 1) * HOUR_MS) {
      throw new OperatorError(`At most ${STATISTICS_HOURS_MAX / 24} days can be shown at once`);
    }
    const hours = await readHours(cache, fromMs, toMs);
    return {
      time_zone: timeZone,
      latency_bounds_ms: [...LATENCY_BOUNDS_MS],
      hours: hours.map(({ hourMs, counts }) => ({
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
    await requireAccount(accounts, account);
    const [known, wallet] = await Promise.all([
      readDailyBalances({ ...cache, timeZone }, account, days, ledger.clock()),
      readWallet(ledger, account),
    ]);
    return {
      account_id: account,
      // The last day is today: its balance is known exactly.
      balances: known.map(({ day, balanceKobo }, index) => {
        const kobo = index === known.length - 1 ? wallet.balance_kobo : balanceKobo;
        return { day, balance: kobo === undefined ? null : nairaFromKobo(kobo) };
      }),
    };
  },
};
