import { REPORTED_DAYS_MAX } from "../contract/actions/action.ts";
import type { Table } from "../ledger/ledger.ts";
import { indexedAccounts } from "../ledger/query-index.ts";
import { type DaySum, readDays, readSums } from "../margin/order-sums.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { isoTime } from "../platform/time.ts";

const DAY_MS = 24 * 3_600_000;
/** Some 7 s and 250 MB of console-api, which has a third of a core and 512 MB. */
const ITEMS_MAX = 10_000;

/** The sums of all accounts on some days, and until when every order that has ended is in them. */
export const readReportedDays = async (
  ledger: Table,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<{ readonly sums: readonly DaySum[]; readonly complete_until: string | null }> => {
  const days = daysBetween(from, to);
  const createdAt = new Map<string, string>();
  for await (const { account_id, created_at } of indexedAccounts(ledger)) createdAt.set(account_id, created_at);
  const accountIds = [...createdAt.keys()];
  if (days.length * accountIds.length > ITEMS_MAX) {
    throw new OperatorError(`${accountIds.length} accounts are too many for ${days.length} days: name fewer days`);
  }
  const [sums, states] = await Promise.all([readDays(ledger, accountIds, days), readSums(ledger, accountIds)]);
  // An account that was created since the last run had no order before.
  let completeUntil: string | null = null;
  for (const [id, created] of createdAt) {
    const upTo = states.get(id)?.up_to ?? created;
    if (completeUntil === null || upTo < completeUntil) completeUntil = upTo;
  }
  return { sums, complete_until: completeUntil };
};

const daysBetween = (from: string, to: string): readonly string[] => {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  const count = Math.round((last - first) / DAY_MS) + 1;
  if (count < 1) throw new OperatorError("The last day must not be before the first one");
  if (count > REPORTED_DAYS_MAX) throw new OperatorError(`At most ${REPORTED_DAYS_MAX} days can be reported at once`);
  return Array.from({ length: count }, (_, index) => isoTime(first + index * DAY_MS).slice(0, 10));
};
