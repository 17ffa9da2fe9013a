import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import type { TransactionStatus, TransactionType } from "../../../shared/contract/transaction.ts";
import { duration } from "../../../shared/contract/values/durations.ts";
import { Status } from "./status.tsx";
import type { Tone } from "./tones.ts";

const types: Readonly<Record<TransactionType, string>> = {
  data: "Data",
  airtime: "Airtime",
  nin_verification: "NIN verification",
  bvn_verification: "BVN verification",
  nin_retrieval: "NIN retrieval",
  bvn_retrieval: "BVN retrieval",
};

export const transactionTypes = Object.entries(types).map(([value, label]) => ({ value, label }));

export const typeText = (type: TransactionType): string => types[type];

type LineKind = ActionOutput<"wallet statement">["lines"][number]["kind"];
const lineKinds: Readonly<Record<LineKind, string>> = {
  ...types,
  ...{ funding: "Funding", adjustment: "Adjustment", refund: "Refund" },
};
export const lineKindText = (kind: LineKind): string => lineKinds[kind];

const statuses: Readonly<Record<TransactionStatus, { readonly tone: Tone; readonly label: string }>> = {
  processing: { tone: "running", label: "Processing" },
  success: { tone: "good", label: "Success" },
  failed: { tone: "bad", label: "Failed" },
};

export const transactionStatuses = Object.entries(statuses).map(([value, { label }]) => ({ value, label }));

export const statusText = (status: TransactionStatus): string => statuses[status].label;

export const TransactionStatusText = ({ status }: { readonly status: TransactionStatus }) => (
  <Status tone={statuses[status].tone}>{statuses[status].label}</Status>
);

/** `3 min`, `5 h`, `2 d`. */
export const durationText = (spanS: number): string => duration(spanS * 1_000);

/** How long it takes to send the queued orders; undefined without any. */
export const sendingText = (count: number, sendingS: number | null): string | undefined => {
  if (count === 0) return undefined;
  return sendingS === null
    ? "Nothing is sent: purchases are off"
    : `About ${durationText(sendingS)}, once the limit is free`;
};

export const ageText = (iso: string): string => duration(Date.now() - Date.parse(iso));
