import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { adviceHeadings } from "../../../shared/contract/actions/transactions.ts";
import { counted } from "../../../shared/contract/values/counted.ts";
import { sendingText } from "../../../shared/queued-orders/queued-orders-report.ts";
import { duration, fields, nairaText, sections, table } from "./print.ts";

export const transactionsTable = (
  transactions: ActionOutput<"transactions list">["transactions"],
  nowMs: number,
): string =>
  table(
    ["reference", "account", "type", "status", "amount", "phone number", "upstream reference", "age"],
    transactions.map((transaction) => [
      transaction.reference,
      transaction.account_id,
      transaction.type,
      transaction.status,
      nairaText(transaction.amount),
      transaction.phone_number,
      transaction.upstream_reference,
      duration(nowMs - Date.parse(transaction.created_at)),
    ]),
  );

export const waitingText = (waiting: ActionOutput<"transactions waiting">): string =>
  sections({
    "Queued orders": fields({
      number: waiting.number,
      ...(waiting.orders.length < waiting.number && { listed: `the oldest ${waiting.orders.length}` }),
      amount: nairaText(waiting.amount),
      oldest: waiting.oldest_s === null ? null : duration(waiting.oldest_s * 1_000),
      "sending takes":
        waiting.sending_s === null ? "nothing is sent: purchases are off" : sendingText(waiting.sending_s),
    }),
    Accounts: table(
      ["account", "number", "counted", "amount"],
      waiting.accounts.map(({ account_id, number, counted, amount }) => [
        account_id,
        number,
        counted,
        nairaText(amount),
      ]),
    ),
    Orders: table(
      ["reference", "account", "amount", "age", "reason"],
      waiting.orders.map(({ reference, account_id, amount, age_s, reason }) => [
        reference,
        account_id,
        nairaText(amount),
        duration(age_s * 1_000),
        reason,
      ]),
    ),
  });

type Shown = ActionOutput<"transactions show">;
type Times = Pick<Shown, "wait_until" | "next_question_at" | "in_flight_until">;

/** Advice with the time that it speaks of, as the console's page shows it. */
const adviceText = (
  { about, text }: Shown["advice"][number],
  { wait_until, next_question_at, in_flight_until }: Times,
): string => {
  if (about === "resolve" && in_flight_until !== null) return `Not before ${in_flight_until}. ${text}`;
  if (about !== "wait" || wait_until === null) return text;
  const next = next_question_at === null ? "" : ` The upstream is asked for it within a minute of ${next_question_at}.`;
  return `${wait_until}. ${text}${next}`;
};

export const transactionText = ({
  history,
  advice,
  lookup,
  taken,
  can_ask: _ask,
  can_refund: _refund,
  ...details
}: Shown): string =>
  sections({
    "In plain words": fields(
      Object.fromEntries(advice.map((each) => [adviceHeadings[each.about], adviceText(each, details)])),
    ),
    [details.reference]: fields({
      ...details,
      amount: nairaText(details.amount),
      taken: taken === null ? null : `by ${taken.by} at ${taken.at}`,
      upstream_answered:
        lookup === null
          ? null
          : `${lookup.finding}${lookup.details === null ? "" : ` (${lookup.details})`} at ${lookup.asked_at}, asked ${counted(lookup.asked, "time")}`,
    }),
    History: table(
      ["at", "local time", "what", "details"],
      history.map(({ at, local_time, what, details }) => [at, local_time, what, details]),
    ),
  });
