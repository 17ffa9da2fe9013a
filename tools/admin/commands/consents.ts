import type { Command } from "commander";
import * as z from "zod";
import { readConsent } from "../../../shared/identity/consent.ts";
import { referenceOf } from "../../../shared/ledger/transaction.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { addCommand, addGroup, type Report } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { accountField } from "../fields.ts";
import { requireTransaction } from "../lookup.ts";
import { fields } from "../views/print.ts";

const input = z.object({ reference: z.string(), account: accountField.optional() });

export const addConsents = (program: Command): void => {
  const group = addGroup(program, "consents", "Consents: on whose word persons were looked up");
  addCommand(group, {
    usage: "show <reference>",
    readOnly: true,
    summary: "who made one identity check, when and for what; whom it was about is known to the app only",
    example: "show VERIFY_7Z9K3QX1V5B8M2N4C6D0F1G3HJ",
    options: [{ flags: "--account <account>", text: "whose it is, for an app's own reference" }],
    input,
    run: show,
  });
};

/** Without the subject: its keyed hash tells an operator nothing. */
const show = async (context: AdminContext, { reference, account }: z.output<typeof input>): Promise<Report> => {
  const transaction = await requireTransaction(context, reference, account);
  const consent = await readConsent(context.ledger, transaction);
  if (consent === undefined) throw new OperatorError(`${reference} is no identity check: it has no consent`);
  const { account_id, key_id, mode, operation, extent, purpose = null, created_at, request_id } = consent;
  const json = {
    reference: referenceOf(transaction),
    account_id,
    key_id,
    mode,
    operation,
    extent,
    purpose,
    created_at,
    request_id,
  };
  return { json, text: fields(json) };
};
