import type { ReactNode } from "react";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { eventStateTexts } from "../../../shared/contract/actions/upstream-events.ts";
import { transactionStatus, transactionType } from "../../../shared/contract/transaction.ts";
import { Money } from "./money.tsx";
import { Status } from "./status.tsx";
import { TransactionStatusText, typeText } from "./transaction-values.tsx";

export type UpstreamEvent = ActionOutput<"events list">["events"][number];

const stateTones = { open: "attention", matched: "good", discarded: "neutral" } as const;

/** Whether an operator has decided about an event. */
export const EventState = ({ event: { state } }: { readonly event: Pick<UpstreamEvent, "state"> }) => (
  <Status tone={stateTones[state]}>{eventStateTexts[state]}</Status>
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
