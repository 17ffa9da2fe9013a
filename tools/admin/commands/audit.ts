import type { Command } from "commander";
import * as z from "#zod";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { momentField } from "../../../shared/contract/transaction-query.ts";
import { SERVICE, type VerifiedAudit, verifyAudit } from "../../../shared/ledger/audit.ts";
import type { AuditedLedger } from "../../../shared/ledger/ledger.ts";
import { auditLogOf } from "../../../shared/ledger/schema.ts";
import type { WithSdk } from "../../../shared/platform/aws/sdk.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { pagesOf } from "../../../shared/platform/pages.ts";
import type { AuditCopies } from "../audit-copy.ts";
import { addCommand, type Report } from "../command.ts";
import type { AdminContext } from "../context.ts";
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
    options: [
      { flags: "--account <account>", text: "the account, if <subject> is a caller's own reference" },
      { flags: "--from <time>", text: "of an account or the service: a date or a time; default: the first entry" },
    ],
    input: z.object({
      subject: z._default(z.string(), SERVICE),
      account: z.optional(z.string()),
      from: z.optional(momentField),
    }),
    run: async (context, { subject, account, from }) => {
      if (subject === "verify" && account === undefined) {
        assertNoStart(from);
        return verifyLogs(context);
      }
      const acts = await auditOn(context, subject, { account, from });
      return { json: { acts }, text: auditTable(acts, context.timeZone) };
    },
  });
};

/**
 * The logs that the audit table has. The ledger's accounts would be another list, which who may write an account can
 * shorten; nobody may remove an item of this table.
 */
const readAuditLogs = async ({ db, auditTable }: AuditedLedger & WithSdk): Promise<readonly string[]> => {
  const logs = new Set<string>();
  const onPage = async (items: readonly { readonly pk: string }[]): Promise<void> => {
    for (const { pk } of items) logs.add(auditLogOf(pk));
  };
  await scanTable(db, auditTable, { onPage, logProgress: () => {}, projection: { ProjectionExpression: "pk" } });
  return [...logs].toSorted();
};

/** The chains of all logs, and their copies if the stage has any. */
const verifyLogs = async ({ ledger, target }: AdminContext): Promise<Report> => {
  const { AUDIT_COPY_BUCKET: bucket } = target.environment;
  if (bucket === "") return verifyAll(ledger, undefined);
  // Every run loads this file, and only this one needs the client of S3.
  const { withAuditCopies } = await import("../audit-copy.ts");
  return withAuditCopies(bucket, (copies) => verifyAll(ledger, copies));
};

/** Of a log that is gone, the copies are left. */
const verifyAll = async (ledger: AdminContext["ledger"], copies: AuditCopies | undefined): Promise<Report> => {
  const logs = new Set([...(await readAuditLogs(ledger)), ...(copies?.logs ?? [])]);
  const problems: (VerifiedAudit["problems"][number] & { readonly audit_log: string })[] = [];
  let entries = 0;
  let before = 0;
  for (const audit_log of [...logs].toSorted()) {
    const copy = copies && { ...copies, entries: copies.entriesOf(audit_log) };
    const verified = await verifyAudit(ledger, audit_log, copy);
    entries += verified.count;
    before += verified.before;
    problems.push(...verified.problems.map((problem) => ({ audit_log, ...problem })));
  }
  const rows = problems.map((problem) => {
    const { audit_log, kind, sequence } = problem;
    const until = "until" in problem ? ` to ${problem.until}` : "";
    return [audit_log, kind, `${sequence}${until}`];
  });
  const compared = copies === undefined ? "" : `, and ${entries - before} of them were compared with their copies`;
  return {
    ok: problems.length === 0,
    json: { entries, ...(copies && { compared: entries - before }), problems },
    text:
      problems.length === 0
        ? `${entries} audit entries: none was changed, removed or added${compared}`
        : table(["log", "problem", "place"], rows),
  };
};

type Acts = ActionOutput<"audit account">["entries"];

/** The latest entries on an account, oldest first: within years it has more than anybody reads beside the account. */
export const latestAudit = async (
  context: AdminContext,
  account: string,
): Promise<{ readonly acts: Acts; readonly isWhole: boolean }> => {
  const { entries, next_cursor } = await perform(context, "audit account", { account });
  return { acts: entries.toReversed(), isWhole: next_cursor === null };
};

const oldestFirst = async (pages: AsyncIterable<{ readonly entries: Acts }>): Promise<Acts> =>
  (await Array.fromAsync(pages)).flatMap(({ entries }) => entries).toReversed();

type Wanted = { readonly account: string | undefined; readonly from: string | undefined };

const auditOn = async (context: AdminContext, subject: string, { account, from }: Wanted): Promise<Acts> => {
  if (subject === SERVICE) {
    return oldestFirst(pagesOf((cursor) => perform(context, "audit list", { account: SERVICE, from, cursor })));
  }
  if (subject.startsWith("acc_")) {
    return oldestFirst(pagesOf((cursor) => perform(context, "audit account", { account: subject, from, cursor })));
  }
  assertNoStart(from);
  return (await perform(context, "audit about", { subject, account })).entries;
};

const assertNoStart = (from: string | undefined): void => {
  if (from !== undefined) throw new OperatorError("--from is for the log of an account or of the service");
};
