import { REPORTED_DAYS_MAX } from "../contract/actions/action.ts";
import { DAY_MS } from "../contract/values/durations.ts";
import { datesUntil } from "../contract/values/time-zone.ts";
import type { Table } from "../ledger/ledger.ts";
import { ALL_TIMES, queryList } from "../ledger/query-index.ts";
import { ACCOUNTS_LIST, accountIdOf, isAccountPk } from "../ledger/schema.ts";
import { type DaySum, readDays } from "../margin/order-days.ts";
import { readSums } from "../margin/order-sums.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { cursorOf, requirePlace } from "./cursor.ts";

/** Days of one page, counted for each account: console-api, which has a third of a core and 29 s, takes some 4 s. */
const DAYS_PER_PAGE = 10_000;
/** The most rows of a page: Lambda answers 6 MB at most. */
const ROWS_PER_PAGE = 5_000;
/** Days that are read before these limits are checked again. A day has at most some 10 rows of 250 bytes. */
const DAYS_AT_ONCE = 1_000;

type Asked = { readonly from: string; readonly to: string; readonly cursor?: string | undefined };

/**
 * One page of a report: calls `add` with the sums of the page's accounts, which adds them to `rows`. Says until when
 * every order of these accounts that has ended is in them.
 */
export const readReportPage = async (
  ledger: Table,
  { from, to, cursor }: Asked,
  rows: ReadonlyMap<string, object>,
  add: (sum: DaySum) => void,
) => {
  const days = daysBetween(from, to);
  const oldest = Math.max(1, Math.floor(DAYS_AT_ONCE / days.length));
  let start = requirePlace(cursor, isAccountPk, "report");
  let accounts = 0;
  let completeUntil: string | null = null;
  do {
    const { keys, next } = await queryList(ledger, ACCOUNTS_LIST, ALL_TIMES, start, { oldest });
    const accountIds = keys.map(({ pk }) => accountIdOf(pk));
    const states = await readSums(ledger, accountIds);
    for (const { pk, created_at } of keys) {
      // An account that was created since the last run had no order before.
      const upTo = states.get(accountIdOf(pk))?.up_to ?? created_at;
      if (completeUntil === null || upTo < completeUntil) completeUntil = upTo;
    }
    for await (const sums of readDays(ledger, accountIds, days)) for (const sum of sums) add(sum);
    accounts += keys.length;
    start = next;
  } while (start !== undefined && accounts * days.length < DAYS_PER_PAGE && rows.size < ROWS_PER_PAGE);
  return { accounts, complete_until: completeUntil, next_cursor: cursorOf(start) };
};

const daysBetween = (from: string, to: string): readonly string[] => {
  const count = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
  if (count < 1) throw new OperatorError("The last day must not be before the first one");
  if (count > REPORTED_DAYS_MAX) throw new OperatorError(`At most ${REPORTED_DAYS_MAX} days can be reported at once`);
  return datesUntil(to, count);
};
