import type { Command } from "commander";
import * as z from "zod";
import { requireAccount } from "../../../shared/access/account-store.ts";
import { auditView } from "../../../shared/actions/audit.ts";
import { requireEvent, requireTransaction } from "../../../shared/actions/lookup.ts";
import { readAudit, SERVICE } from "../../../shared/ledger/audit.ts";
import { addCommand, callerAccount } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { accountField } from "../fields.ts";
import { auditTable } from "../views/audit.ts";

export const addAudit = (program: Command): void => {
  addCommand(program, {
    usage: "audit [subject]",
    readOnly: true,
    summary: "Show who changed an account, a transaction or an event, and why; without a subject, the service itself",
    example: "audit acc_0123456789abcdef01",
    options: [{ ...callerAccount, text: "the account, if <subject> is a caller's own reference" }],
    input: z.object({ subject: z.string().default(SERVICE), account: accountField.optional() }),
    run: async (context, { subject, account }) => {
      const entries = await readAudit(context.ledger, await auditSubject(context, subject, account));
      return { json: { acts: entries.map(auditView) }, text: auditTable(entries) };
    },
  });
};

/** The subject under which audit entries are stored. */
const auditSubject = async (context: AdminContext, subject: string, account: string | undefined): Promise<string> => {
  if (subject === SERVICE) return SERVICE;
  if (subject.startsWith("acc_")) return (await requireAccount(context.accounts, subject)).account_id;
  if (!subject.startsWith("event_")) return (await requireTransaction(context, subject, account)).pk;
  const event = await requireEvent(context, subject);
  return event.transaction ?? event.pk;
};
