import type { Command } from "commander";
import * as z from "zod";
import { requireAccount } from "../../../shared/access/account-store.ts";
import { readAudit, SERVICE } from "../../../shared/ledger/audit.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { findEvent } from "../../../shared/upstream-events/stored-event.ts";
import { addCommand } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { accountField } from "../fields.ts";
import { requireTransaction } from "../lookup.ts";
import { actsTable, actView } from "../views/audit.ts";

export const addAudit = (program: Command): void => {
  addCommand(program, {
    usage: "audit [subject]",
    readOnly: true,
    summary: "who changed what, and why: of an account, a transaction, an event, or without one of the service itself",
    example: "audit acc_0123456789abcdef01",
    options: [{ flags: "--account <account>", text: "whose it is, for an app's own reference" }],
    input: z.object({ subject: z.string().default(SERVICE), account: accountField.optional() }),
    run: async (context, { subject, account }) => {
      const acts = await readAudit(context.ledger, await keyOf(context, subject, account));
      return { json: { acts: acts.map(actView) }, text: actsTable(acts) };
    },
  });
};

const keyOf = async (context: AdminContext, subject: string, account: string | undefined): Promise<string> => {
  if (subject === SERVICE) return SERVICE;
  if (subject.startsWith("acc_")) return (await requireAccount(context.accounts, subject)).account_id;
  if (!subject.startsWith("event_")) return (await requireTransaction(context, subject, account)).pk;
  const event = await findEvent(context.ledger, subject);
  if (event === undefined) throw new OperatorError(`There is no event ${subject}`);
  return event.transaction ?? event.pk;
};
