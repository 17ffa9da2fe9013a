import { purchasesText, switchText } from "../../../shared/actions/purchases.ts";
import type { ActionName, ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { entitlementsText } from "../../../shared/contract/permission.ts";
import { GATE_CACHE_MS } from "../../../shared/queued-orders/order-gate.ts";
import { accessText } from "./access.ts";
import { catalogText } from "./catalog.ts";
import { attemptsText, deliveriesText } from "./deliveries.ts";
import { periodText } from "./periods.ts";
import { duration, fields, nairaText, table } from "./print.ts";
import { caseText, statementText } from "./reconciliation.ts";
import { transactionText } from "./transactions.ts";

const switchedText = (output: ActionOutput<"purchases off">): string => {
  const state = switchText(output, output.part ?? undefined);
  if (!output.changed) return `Nothing was changed: ${state}.`;
  const text = `${state}\nEvery function follows within ${duration(GATE_CACHE_MS)}.`;
  if (output.audit_error === undefined) return text;
  return `${text}\nThe audit entry could not be written (${output.audit_error}); the switch itself records who, when and why.`;
};

const entryText = ({ account_id: account, id, amount, repeated, balance }: ActionOutput<"wallet fund">): string =>
  `${repeated ? `${id} was recorded before: nothing was changed.\n` : ""}${fields({
    account,
    id,
    amount: nairaText(amount),
    balance: nairaText(balance),
  })}`;

const entitledText = ({ account_id, entitlements }: ActionOutput<"accounts entitle">): string =>
  fields({ account_id, entitlements: entitlementsText(entitlements) });

const duplicatesText = ({ account_id, duplicate_window_s }: ActionOutput<"accounts duplicates">): string =>
  fields({ account_id, duplicate_window_s: duplicate_window_s ?? "none" });

const matchText = ({ differences, ...output }: ActionOutput<"events match">): string => {
  const list = differences.map(
    ({ field, event, transaction }) => `${field} (event ${event}, transaction ${transaction})`,
  );
  return fields({ ...output, differences: list.join(", ") || "none" });
};

const probeText = ({ checks, findings, proposed }: ActionOutput<"upstream probe">): string => {
  const rows = checks.map(({ request, result, status, answer }) => [request, result, String(status ?? "none"), answer]);
  return [
    table(["request", "result", "status", "answer"], rows),
    ...(findings.length === 0 ? ["Nothing was found."] : findings.map((finding) => `- ${finding}.`)),
    proposed === null
      ? "The answers say too little to propose a profile."
      : `The answers speak for upstreamProfile: ${proposed}`,
  ].join("\n");
};

/** The outputs that a table or a line for each field would show worse. */
export const actionTexts: { readonly [Name in ActionName]?: (output: ActionOutput<Name>, timeZone: string) => string } =
  {
    "accounts entitle": entitledText,
    "accounts duplicates": duplicatesText,
    "access review": accessText,
    "periods show": periodText,
    "purchases show": purchasesText,
    "purchases off": switchedText,
    "purchases on": switchedText,
    "wallet fund": entryText,
    "wallet adjust": entryText,
    "wallet reverse": entryText,
    "transactions refund": entryText,
    "events match": matchText,
    "transactions show": transactionText,
    "deliveries list": deliveriesText,
    "deliveries show": attemptsText,
    "catalog show": catalogText,
    "upstream probe": probeText,
    "reconciliation statements show": statementText,
    "reconciliation statements sign": statementText,
    "reconciliation files remove": statementText,
    "reconciliation cases show": caseText,
    "reconciliation cases decide": caseText,
  };
