import * as z from "#zod";
import { DAY_MS } from "../contract/values/durations.ts";
import { getItem } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { listServicePeriods, readServicePeriod } from "../ledger/period.ts";
import { PERIOD_VERIFICATION_PK } from "../ledger/schema.ts";
import { retryContention } from "../platform/backoff.ts";
import { type Deadline, deadlineWithin } from "../platform/deadline.ts";
import { errorFields, log } from "../platform/log.ts";
import { isoTime } from "../platform/time.ts";
import { RUN_RESERVE_MS, VERIFY_PERIODS_MS_MAX } from "../platform/time-budgets.ts";
import { isTransient } from "../platform/transient-error.ts";
import { continueVerifying, verifyingSchema } from "./verify-period.ts";

/** A round that has not ended after this time raises an alarm, also if only AWS did not answer. */
const OVERDUE_MS = 2 * DAY_MS;

/** How far the closed months are verified. */
export const verificationSchema = z.object({
  pk: z.literal(PERIOD_VERIFICATION_PK),
  /** When the latest round began. */
  begun_at: z.iso.datetime(),
  /** The months that are left of it, and where the first of them continues. */
  months: z.array(z.string()),
  /** The earlier month of the latest round: the next round has the one before it. */
  in_turn: z.optional(z.string()),
  verifying: z.optional(verifyingSchema),
});
type Verification = z.infer<typeof verificationSchema>;

/**
 * Recomputes closed months, so that a line which was changed afterwards is noticed: each day the last month, and one of
 * the earlier ones in turn. A run that is out of time is continued by the next one. Resolves with the number of months
 * that were verified to their end.
 */
export const verifyPeriods = async (ledger: Ledger, deadline: Deadline): Promise<number> => {
  const runDeadline = deadlineWithin(deadline, VERIFY_PERIODS_MS_MAX, ledger.clock, RUN_RESERVE_MS);
  const now = isoTime(ledger.clock());
  let begunAt = now;
  let verified = 0;
  try {
    const stored = await getItem(ledger, PERIOD_VERIFICATION_PK, verificationSchema);
    // A round that cannot begin is late by the begin of the one before.
    if (stored !== undefined) begunAt = stored.begun_at;
    if (stored?.months.length === 0 && Date.parse(now) - Date.parse(begunAt) < DAY_MS) return 0;
    let verification: Verification =
      stored !== undefined && stored.months.length > 0
        ? stored
        : { pk: PERIOD_VERIFICATION_PK, begun_at: now, ...(await nextRound(ledger, stored?.in_turn)) };
    while (runDeadline.remainingMs() > 0) {
      const { verifying, ...round } = verification;
      const [month, ...left] = round.months;
      if (month === undefined) break;
      const next = await verifyMonth(ledger, month, verifying, runDeadline);
      verification = next === undefined ? { ...round, months: left } : { ...round, verifying: next };
      verified += next === undefined ? 1 : 0;
      await writeVerification(ledger, verification);
    }
    if (verification.months.length === 0 && verified === 0) await writeVerification(ledger, verification);
  } catch (error) {
    const isOverdue = ledger.clock() - Date.parse(begunAt) > OVERDUE_MS;
    if (isTransient(error) && !isOverdue) log.warn("period.verification_delayed", errorFields(error));
    else log.alarm("period.not_verified", errorFields(error));
  }
  return verified;
};

const writeVerification = async ({ db, table }: Ledger, Item: Verification): Promise<void> => {
  await retryContention(() => db.put({ TableName: table, Item }));
};

/**
 * The last month, and the earlier one before that of the round before; after the first month of all the turn begins again. A
 * turn that followed from the date alone would leave months out for longer whenever another one is closed.
 */
const nextRound = async (
  ledger: Ledger,
  before: string | undefined,
): Promise<Pick<Verification, "months" | "in_turn">> => {
  const [last, ...earlier] = (await listServicePeriods(ledger)).map(({ month }) => month);
  const inTurn = earlier.find((month) => before !== undefined && month < before) ?? earlier[0];
  return {
    months: [last, inTurn].filter((month) => month !== undefined),
    ...(inTurn !== undefined && { in_turn: inTurn }),
  };
};

/** Verifies a month until the time is up; resolves with where it continues. */
const verifyMonth = async (
  ledger: Ledger,
  month: string,
  begun: Verification["verifying"],
  deadline: Deadline,
): Promise<Verification["verifying"]> => {
  const period = await readServicePeriod(ledger, month);
  if (period === undefined) {
    log.alarm("period.differs", { month, differences: 1 });
    return undefined;
  }
  const { differences, next } = await continueVerifying(ledger, period, begun ?? { done: 0 }, deadline);
  const [first] = differences;
  if (first !== undefined)
    log.alarm("period.differs", { month, account: first.account_id ?? undefined, differences: differences.length });
  return next;
};
