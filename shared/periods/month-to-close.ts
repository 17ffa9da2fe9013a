import { MINUTE_MS } from "../contract/values/durations.ts";
import { dateIn, monthAfter, monthOf, monthRange } from "../contract/values/time-zone.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { listServicePeriods, readServicePeriod, type ServicePeriod } from "../ledger/period.ts";
import { ALL_TIMES, INDEXED_AGE_MS, queryList } from "../ledger/query-index.ts";
import { ACCOUNTS_LIST } from "../ledger/schema.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { isoTime } from "../platform/time.ts";

/** What of a month is known before it is closed. */
export type MonthToClose = Pick<ServicePeriod, "month" | "time_zone" | "from" | "to" | "previous">;

/** What a stage's settings say of its months: their zone, and for how long an order waits to be sent. */
export type MonthSettings = { readonly timeZone: string; readonly queueMinutes: number };

/** The month as it can be closed, or why not. A period begins where the one before ended, whatever the zone is now. */
export const monthToClose = async (ledger: Ledger, month: string, settings: MonthSettings): Promise<MonthToClose> => {
  const { timeZone } = settings;
  const [last] = await listServicePeriods(ledger, 1);
  const before = await readServicePeriod(ledger, monthAfter(month, -1));
  if (before === undefined && last !== undefined) {
    throw new OperatorError(
      `Periods are closed one after the other: ${last.month} was closed last, so ${monthAfter(last.month)} is next`,
    );
  }
  const { from, to } = monthRange(month, timeZone);
  if (before === undefined) await requireAccountUntil(ledger, month, to, settings);
  const closableFrom = closableAt(to, settings);
  if (isoTime(ledger.clock()) < closableFrom) {
    throw new OperatorError(
      `${month} ends at ${to} and can be closed from ${closableFrom} on, when no order of it is sent any more`,
    );
  }
  return {
    month,
    time_zone: timeZone,
    from: before === undefined ? from : isoTime(Date.parse(before.to) + 1),
    to,
    previous: before?.hash ?? "",
  };
};

/**
 * After an empty month that a person mistyped, each month until now would have to be closed by itself. The last one that can
 * be closed is closed without an account too: it is the one that the console offers.
 */
const requireAccountUntil = async (
  ledger: Ledger,
  month: string,
  to: string,
  settings: MonthSettings,
): Promise<void> => {
  const offered = nextToClose(ledger, undefined, settings).month;
  if (month >= offered) return;
  const { keys } = await queryList(ledger, ACCOUNTS_LIST, ALL_TIMES, undefined, { oldest: 1 });
  const [first] = keys;
  if (first !== undefined && first.created_at <= to) return;
  const firstMonth = first && monthOf(dateIn(Date.parse(first.created_at), settings.timeZone));
  const next = firstMonth !== undefined && firstMonth < offered ? firstMonth : offered;
  throw new OperatorError(`No account existed in ${month}: ${next} is the first month that can be closed`);
};

/**
 * From then on no write of a month is in flight, and none of its orders is sent: an order that leaves its queue moves between two
 * lists of the index, which may have it in neither for a moment, and costs what its delivery says.
 */
const closableAfterMs = ({ queueMinutes }: MonthSettings): number => queueMinutes * MINUTE_MS + INDEXED_AGE_MS;
const closableAt = (to: string, settings: MonthSettings): string =>
  isoTime(Date.parse(to) + 1 + closableAfterMs(settings));

/** The month after the last closed one, or, if none is closed, the last one that can be closed; and from when on it can. */
export const nextToClose = ({ clock }: Pick<Ledger, "clock">, last: string | undefined, settings: MonthSettings) => {
  const { timeZone } = settings;
  const notClosable = monthOf(dateIn(clock() - closableAfterMs(settings), timeZone));
  const month = last === undefined ? monthAfter(notClosable, -1) : monthAfter(last);
  return { month, from: closableAt(monthRange(month, timeZone).to, settings) };
};
