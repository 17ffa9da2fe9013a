import { isSettledByTwo } from "../../../shared/contract/settled-by-two.ts";
import type { Mode } from "../../../shared/contract/transaction.ts";
import { moneyText } from "../../../shared/contract/values/money.ts";
import type { Preview } from "../values/amount.ts";
import { ChangeDialog } from "./change-dialog.tsx";

type ResolveDialogProps = {
  readonly reference: string;
  readonly amount: number;
  readonly mode: Mode;
  /** Which one is resolved: while the dialog is open, the order may be sent, or sent again. */
  readonly sending: string;
  /** A check without a result can only have failed. */
  readonly canSucceed: boolean;
  /** In a list its reference is typed, so that nobody resolves the order beside it. */
  readonly isListed?: true;
};

/** Settles an open transaction as an operator decides. Only operators see its button. */
export const ResolveDialog = ({ reference, amount, mode, sending, canSucceed, isListed }: ResolveDialogProps) => (
  <ChangeDialog
    action="transactions resolve"
    button="Resolve"
    subject={reference}
    buttonSize="xs"
    title={`Resolve ${reference}`}
    nameToType={isListed ? reference : null}
    fields={{
      sending: { kind: "seen", initial: sending },
      status: {
        kind: "choice",
        mustChoose: true,
        label: "Outcome",
        description: "Ask the upstream before you decide.",
        options: [
          { value: "failed", label: `Failed: refund ${moneyText(amount)}` },
          ...(canSucceed ? [{ value: "success", label: "Success: keep the payment" }] : []),
        ],
      },
    }}
    preview={({ status }) => (status === "" ? undefined : effectOf(status, amount))}
    needsApproval={(_, { resolve_above }) => isSettledByTwo({ mode, naira: amount }, resolve_above)}
    inputOf={({ status, sending: seen }, why = "") => ({
      ...{ reference, sending: seen, why },
      status: status === "success" ? "success" : "failed",
    })}
    success={({ status, refunded }) =>
      `${reference} is ${status} now${refunded > 0 ? `, and ${moneyText(refunded)} were refunded` : ""}.`
    }
    ifUnknown="If it is still listed as open, resolve it again."
  >
    Its account is sent the webhook. While the order's own request may still be running, it cannot be resolved.
  </ChangeDialog>
);

const effectOf = (status: string, amount: number): Preview =>
  status === "success"
    ? {
        sentence: `The wallet keeps paying ${moneyText(amount)}. This cannot be undone.`,
        button: "Resolve as delivered",
      }
    : {
        sentence: `${moneyText(amount)} will be refunded. This cannot be undone.`,
        button: `Resolve as failed and refund ${moneyText(amount)}`,
      };
