import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { Status } from "./status.tsx";

export type UpstreamStatement = ActionOutput<"reconciliation statements show">;
export type CaseClass = ActionOutput<"reconciliation cases show">["class"];

/** What a comparison found, as people read it. */
export const classText: Readonly<Record<CaseClass | "matched", string>> = {
  matched: "Matched",
  amount_differs: "Another amount",
  status_contradicts: "Another outcome",
  time_differs: "Another time",
  only_ours: "Only in our books",
  only_theirs: "Only in the statement",
  charged_twice: "Charged twice",
  clock_differs: "Another clock",
};

/** How far the comparison of a day is. */
export const StatementState = ({ of }: { readonly of: UpstreamStatement }) => {
  if (of.state === "signed_off") return <Status tone="good">Signed off</Status>;
  if (of.compared?.revision !== of.revision) return <Status tone="attention">Not compared yet</Status>;
  if (of.open_cases > 0) return <Status tone="attention">{of.open_cases} to decide</Status>;
  return <Status tone="good">Ready to sign off</Status>;
};
