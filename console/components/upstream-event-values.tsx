import type { ReactNode } from "react";
import type { ActionOutput } from "../../shared/contract/actions/actions.ts";
import { transactionStatus, transactionType } from "../../shared/contract/transaction.ts";
import { Money } from "./money.tsx";
import { Status } from "./status.tsx";
import { TransactionStatusText, typeText } from "./transaction-values.tsx";

export type UpstreamEvent = ActionOutput<"events list">["events"][number];

/** Why an event was not applied. */
export const reasons = {
  contradiction: "It contradicts the final status of its order",
  unauthenticated: "It reports a failure, and nothing proves that the upstream sent it",
  no_candidate: "No open order fits",
  several_candidates: "Several open orders fit",
  unknown_failure: "It reports the failure of an unknown order",
  conflicting_events: "Another event under its reference reports the opposite",
  sent_again: "It reports a failure, and its order was sent again: it may be about the sending before",
  another_order: "The upstream answered about another order than it was asked for",
  not_found: "The upstream does not know the order",
  unreadable: "It could not be read",
} as const;

const states = {
  open: { tone: "attention", text: "Waits for a decision" },
  matched: { tone: "good", text: "Matched" },
  discarded: { tone: "neutral", text: "Discarded" },
} as const;

/** Whether an operator has decided about an event. */
export const EventState = ({ event: { state } }: { readonly event: Pick<UpstreamEvent, "state"> }) => (
  <Status tone={states[state].tone}>{states[state].text}</Status>
);

/** The status that an event reports, or what could not be read. */
export const Reported = ({ event: { says } }: { readonly event: Pick<UpstreamEvent, "says"> }) => {
  const { data: status } = transactionStatus.safeParse(says);
  return status === undefined ? says : <TransactionStatusText status={status} />;
};

/** The type of an event, which may be absent; the upstream's own word if it is not one of ours. */
export const reportedTypeText = ({ type }: Pick<UpstreamEvent, "type">): string => {
  const { data: known } = transactionType.safeParse(type);
  return known === undefined ? (type ?? "–") : typeText(known);
};

/** An amount that an event may lack. */
export const amountText = (naira: number | null): ReactNode => (naira === null ? "–" : <Money naira={naira} />);
