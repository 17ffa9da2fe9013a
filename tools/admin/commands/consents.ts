import type { Command } from "commander";
import * as z from "zod";
import { requireTransaction } from "../../../shared/actions/lookup.ts";
import { readConsent } from "../../../shared/identity/consent.ts";
import { referenceOf } from "../../../shared/ledger/transaction.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { addCommand, addGroup, callerAccount, type Report } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { accountField } from "../fields.ts";
import { fields } from "../views/print.ts";

const input = z.object({ reference: z.string(), account: accountField.optional() });

export const addConsents = (program: Command): void => {
  const group = addGroup(program, "consents", "Inspect the consents of identity checks");
  addCommand(group, {
    usage: "show <reference>",
    readOnly: true,
    summary: "Show who made an identity check, when and for what purpose; never whom it was about",
    example: "show VERIFY_7Z9K3QX1V5B8M2N4C6D0F1G3HJ",
    options: [callerAccount],
    input,
    run: show,
  });
};

/** Without the subject: only its keyed hash is stored. */
const show = async (context: AdminContext, { reference, account }: z.output<typeof input>): Promise<Report> => {
  const transaction = await requireTransaction(context, reference, account);
  const consent = await readConsent(context.ledger, transaction);
  if (consent === undefined) throw new OperatorError(`${reference} has no consent: it is not an identity check`);
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
