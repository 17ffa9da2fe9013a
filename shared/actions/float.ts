import type { floatActions } from "../contract/actions/float.ts";
import { koboMoneyText, nairaFromKobo } from "../contract/values/money.ts";
import { actorName, SERVICE } from "../ledger/audit.ts";
import { getItems } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { ALL_TIMES, queryList } from "../ledger/query-index.ts";
import { FLOAT_PAYMENTS_LIST, isFloatPaymentPk, STATEMENTS_LIST } from "../ledger/schema.ts";
import {
  expectedAt,
  type FloatPayment,
  floatPaymentSchema,
  hoursLeftText,
  readFloat,
  recordPayment,
} from "../margin/float.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { orNull } from "../platform/or-null.ts";
import { readUpstreamBalance } from "../upstream-lookup/upstream-balance.ts";
import { readStatements } from "../upstream-statement/statement.ts";
import { auditItem } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";
import { cursorOf, requirePlace } from "./cursor.ts";
import { requireTimeRange } from "./time-range.ts";

export const floatRuns: ActionRuns<typeof floatActions> = {
  "float show": async ({ ledger, timeZone, purchases, probe, floatAlarmHours }) => {
    const upstream = probe.profile.balance && (await readUpstreamBalance(purchases));
    const { paymentsKobo, costKobo, unknownKobo, openKobo, expectedKobo, dayKobo, hoursLeft } = await readFloat(ledger);
    const statement = await newestClosing(ledger);
    const thenKobo = statement && (await expectedAt({ ...ledger, timeZone }, Date.parse(statement.to)));
    const differenceKobo = statement && thenKobo !== undefined ? statement.balanceKobo - thenKobo : undefined;
    return {
      payments: orNull(paymentsKobo, nairaFromKobo),
      cost: nairaFromKobo(costKobo),
      unknown_cost_at_price: nairaFromKobo(unknownKobo),
      open: nairaFromKobo(openKobo),
      expected_balance: paymentsKobo === undefined ? null : nairaFromKobo(expectedKobo),
      upstream_balance: orNull(upstream?.balance_kobo, nairaFromKobo),
      upstream_balance_at: upstream?.read_at ?? null,
      statement_day: statement?.day ?? null,
      statement_balance: orNull(statement?.balanceKobo, nairaFromKobo),
      statement_expected: orNull(thenKobo, nairaFromKobo),
      statement_difference: orNull(differenceKobo, nairaFromKobo),
      last_24_hours: nairaFromKobo(dayKobo),
      hours_left: hoursLeft ?? null,
      is_low: hoursLeft !== undefined && hoursLeft < floatAlarmHours,
      pace: paceText(paymentsKobo, hoursLeft),
    };
  },

  "float payments": async (context, { cursor, ...period }) => {
    const { ledger } = context;
    const start = requirePlace(cursor, isFloatPaymentPk);
    const range = requireTimeRange(context, period);
    const { keys, next } = await queryList(ledger, FLOAT_PAYMENTS_LIST, range, start, { newest: PAYMENTS_PER_PAGE });
    const payments = await getItems(ledger, keys, floatPaymentSchema);
    return {
      payments: payments.map(({ payment_id: id, amount_kobo, by, created_at: at }) => ({
        ...{ id, at, by },
        amount: nairaFromKobo(amount_kobo),
      })),
      next_cursor: cursorOf(next),
    };
  },

  "float fund": async (context, { amount_kobo: amountKobo, id, why }) => {
    const details = { id, amount: nairaFromKobo(amountKobo) };
    const audit = auditItem(context, SERVICE, { action: "float fund", why, details });
    const by = actorName(context.actor());
    const result = await recordPayment(context.ledger, { paymentId: id, amountKobo, by }, audit);
    if (result.kind === "already_recorded" && result.payment.amount_kobo !== amountKobo)
      throw bookedError(result.payment);
    return { id, amount: nairaFromKobo(amountKobo), repeated: result.kind === "already_recorded" };
  },
};

/** Why the id of a payment cannot be used again. */
export const bookedError = ({ payment_id, amount_kobo, created_at }: FloatPayment): OperatorError =>
  new OperatorError(`${payment_id} was booked already, with ${koboMoneyText(amount_kobo)} at ${created_at}`, {
    field: "id",
  });

export const PAYMENTS_PER_PAGE = 100;
const STATEMENTS_READ = 20;

/** Of the statements that were imported last, the newest day that states a balance at its end. */
const newestClosing = async (ledger: Ledger) => {
  const { keys } = await queryList(ledger, STATEMENTS_LIST, ALL_TIMES, undefined, { newest: STATEMENTS_READ });
  const closings = (await readStatements(ledger, keys)).flatMap(({ day, to, closing }) =>
    closing === null ? [] : [{ day, to, balanceKobo: closing.balance_kobo }],
  );
  return closings.toSorted((one, other) => (one.day < other.day ? 1 : -1))[0];
};

const paceText = (paymentsKobo: number | undefined, hoursLeft: number | undefined): string => {
  if (paymentsKobo === undefined) return "no payment to the upstream is booked";
  if (hoursLeft === undefined) return "no order took anything in the last 24 hours";
  return hoursLeft === 0 ? "empty" : `empty in ${hoursLeftText(hoursLeft)} at the pace of the last 24 hours`;
};
