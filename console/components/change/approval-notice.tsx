import { actions } from "../../../shared/contract/actions/actions.ts";
import { counted } from "../../../shared/contract/values/counted.ts";
import { moneyText } from "../../../shared/contract/values/money.ts";
import type { ChangeName } from "../../api/use-change.ts";
import type { FourEyes } from "../../api/use-person.ts";
import { Notice } from "../page/notice.tsx";

/** `perhaps`: the order is typed, so its amount is not known before it is sent. */
export type NeedsApproval = boolean | "perhaps";

type ApprovalNoticeProps = {
  readonly action: ChangeName;
  readonly needsApproval: true | "perhaps";
  readonly fourEyes: FourEyes;
};

/** Says before a change is sent that it is proposed only, and who can approve it. */
export const ApprovalNotice = ({ action, needsApproval, fourEyes: { resolve_above, hours } }: ApprovalNoticeProps) => (
  <Notice
    tone="neutral"
    title={needsApproval === true ? "Another person must approve this" : "Another person may have to approve this"}
  >
    {needsApproval === "perhaps" ? `If it is a live order above ${moneyText(resolve_above)}, you` : "You"} only propose
    this: nothing changes until another person in the role {actions[action].roles.join(" or ")} approves it on the page
    Proposals, within {counted(hours, "hour")}.
  </Notice>
);

/** "Propose to credit NGN 500.00" for a button "Credit NGN 500.00". */
export const proposingText = (button: string): string =>
  `Propose to ${button.slice(0, 1).toLowerCase()}${button.slice(1)}`;
