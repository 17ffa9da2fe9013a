import type { Command } from "commander";
import * as z from "zod";
import { requireAccount } from "../../../shared/access/account-store.ts";
import { readAudit, SERVICE } from "../../../shared/ledger/audit.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { findEvent } from "../../../shared/upstream-events/stored-event.ts";
import { actsTable, actView } from "../audit-view.ts";
import { addCommand } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { accountField } from "../fields.ts";
import { requireTransaction } from "../transactions.ts";

export const addAudit = (program: Command): void => {
  addCommand(program, {
    usage: "audit [subject]",
    readOnly: true,
    summary: "who changed what, and why: of an account, a transaction, an event, or without one of the service itself",
    example: "audit acc_0123456789abcdef01",
    options: [{ flags: "--account <account>", text: "whose it is, for an app's own reference" }],
    input: z.object({ subject: z.string().default(SERVICE), account: accountField.optional() }),
    run: async (desk, { subject, account }) => {
      const acts = await readAudit(desk.ledger, await keyOf(desk, subject, account));
      return { json: { acts: acts.map(actView) }, text: actsTable(acts) };
    },
  });
};

const keyOf = async (desk: AdminContext, subject: string, account: string | undefined): Promise<string> => {
  if (subject === SERVICE) return SERVICE;
  if (subject.startsWith("acc_")) return (await requireAccount(desk.accounts, subject)).account_id;
  if (!subject.startsWith("event_")) return (await requireTransaction(desk, subject, account)).pk;
  const event = await findEvent(desk.ledger, subject);
  if (event === undefined) throw new OperatorError(`There is no event ${subject}`);
  return event.transaction ?? event.pk;
};
