import type { Command } from "commander";
import * as z from "zod";
import { requireAccount } from "../../../shared/access/account-store.ts";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { SERVICE, verifyAudit } from "../../../shared/ledger/audit.ts";
import type { AuditProblem } from "../../../shared/ledger/audit-chain.ts";
import type { AuditedLedger } from "../../../shared/ledger/ledger.ts";
import { auditLogOf } from "../../../shared/ledger/schema.ts";
import { allOf, pagesOf } from "../../../shared/platform/pages.ts";
import { addCommand, type Report } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { accountField } from "../fields.ts";
import { perform } from "../perform.ts";
import { scanTable } from "../table-scan.ts";
import { auditTable } from "../views/audit.ts";
import { table } from "../views/print.ts";

export const addAudit = (program: Command): void => {
  addCommand(program, {
    usage: "audit [subject]",
    readOnly: true,
    summary: "Show who changed an account, a transaction or an event, and why; without a subject, the service itself",
    texts: { subject: "`verify` checks instead that no entry of any log was changed, removed or added by hand" },
    example: "audit acc_0123456789abcdef01",
    options: [{ flags: "--account <account>", text: "the account, if <subject> is a caller's own reference" }],
    input: z.object({ subject: z.string().default(SERVICE), account: accountField.optional() }),
    run: async (context, { subject, account }) => {
      if (subject === "verify" && account === undefined) return verifyLogs(context);
      const acts = await auditOn(context, subject, account);
      return { json: { acts }, text: auditTable(acts) };
    },
  });
};

/**
 * The logs that the audit table has. The ledger's accounts would be another list, which who may write an account can
 * shorten; nobody may remove an item of this table.
 */
const readAuditLogs = async ({ db, auditTable }: AuditedLedger): Promise<readonly string[]> => {
  const logs = new Set<string>();
  const onPage = async (items: readonly { readonly pk: string }[]): Promise<void> => {
    for (const { pk } of items) logs.add(auditLogOf(pk));
  };
  await scanTable(db, auditTable, { onPage, logProgress: () => {}, projection: { ProjectionExpression: "pk" } });
  return [...logs].toSorted();
};

/** The chains of all logs. */
const verifyLogs = async ({ ledger }: AdminContext): Promise<Report> => {
  const problems: (AuditProblem & { readonly audit_log: string })[] = [];
  let entries = 0;
  for (const audit_log of await readAuditLogs(ledger)) {
    const verified = await verifyAudit(ledger, audit_log);
    entries += verified.count;
    problems.push(...verified.problems.map((problem) => ({ audit_log, ...problem })));
  }
  const rows = problems.map(({ audit_log, kind, sequence, until }) => [
    ...[audit_log, kind],
    until === undefined ? sequence : `${sequence} to ${until}`,
  ]);
  return {
    ok: problems.length === 0,
    json: { entries, problems },
    text:
      problems.length === 0
        ? `${entries} audit entries: none was changed, removed or added`
        : table(["log", "problem", "place"], rows),
  };
};

type Acts = ActionOutput<"audit service">["entries"];

/** Everything on an account, oldest first. */
export const accountAudit = (context: AdminContext, account: string): Promise<Acts> =>
  oldestFirst(pagesOf((cursor) => perform(context, "audit account", { account, cursor })));

const oldestFirst = async (pages: AsyncIterable<{ readonly entries: Acts }>): Promise<Acts> =>
  (await allOf(pages)).flatMap(({ entries }) => entries).toReversed();

const auditOn = async (context: AdminContext, subject: string, account: string | undefined): Promise<Acts> => {
  if (subject === SERVICE) return oldestFirst(pagesOf((cursor) => perform(context, "audit service", { cursor })));
  if (!subject.startsWith("acc_")) return (await perform(context, "audit about", { subject, account })).entries;
  return accountAudit(context, (await requireAccount(context.accounts, subject)).account_id);
};
