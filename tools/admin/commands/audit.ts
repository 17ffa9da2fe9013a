import type { Command } from "commander";
import * as z from "zod";
import { requireAccount } from "../../../shared/access/account-store.ts";
import { auditView } from "../../../shared/actions/audit.ts";
import { requireEvent, requireTransaction } from "../../../shared/actions/lookup.ts";
import {
  type AuditEntry,
  readAudit,
  readAuditAbout,
  readTransactionAudit,
  SERVICE,
} from "../../../shared/ledger/audit.ts";
import { readTransaction } from "../../../shared/ledger/find-transactions.ts";
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
      const entries = await entriesOn(context, subject, account);
      return { json: { acts: entries.map(auditView) }, text: auditTable(entries) };
    },
  });
};

const entriesOn = async (
  context: AdminContext,
  subject: string,
  account: string | undefined,
): Promise<readonly AuditEntry[]> => {
  const { ledger } = context;
  if (subject === SERVICE) return readAudit(ledger, SERVICE);
  if (subject.startsWith("acc_"))
    return readAudit(ledger, (await requireAccount(context.accounts, subject)).account_id);
  if (!subject.startsWith("event_")) {
    return readTransactionAudit(ledger, await requireTransaction(context, subject, account));
  }
  const { pk, transaction: about } = await requireEvent(context, subject);
  const transaction = about === undefined ? undefined : await readTransaction(ledger, about);
  return transaction === undefined ? readAuditAbout(ledger, SERVICE, pk) : readTransactionAudit(ledger, transaction);
};
