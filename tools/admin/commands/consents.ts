import type { Command } from "commander";
import * as z from "#zod";
import { CONSENTS_EXPORT } from "../../../shared/actions/consents.ts";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { type VerifiedExport, verifyExport } from "../../../shared/identity/consent-export.ts";
import { actorName, readAudit } from "../../../shared/ledger/audit.ts";
import { allOf, pagesOf } from "../../../shared/platform/pages.ts";
import { addCommand, type Report } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { accountField, END_TIME, timeField } from "../fields.ts";
import { perform } from "../perform.ts";
import { readStdin } from "../stdin.ts";
import { fields } from "../views/print.ts";

export const addConsentCommands = (group: Command): void => {
  addCommand(group, {
    usage: "export",
    summary: "Print the consents of an account's live checks as JSON Lines; the audit log records count and last hash",
    example: "export --account acc_0123456789abcdef01 --from 2026-11-01 --to 2026-11-30 > november.jsonl",
    options: [
      { flags: "--account <account>", text: "the account", required: true },
      { flags: "--from <time>", text: "a date or a time; default: the first check" },
      {
        flags: "--to <time>",
        text: `${END_TIME}; default: two minutes ago`,
      },
    ],
    input: z.object({
      account: accountField,
      from: z.optional(timeField),
      to: z.optional(timeField),
      json: z._default(z.boolean(), false),
    }),
    run: async (context, { json, ...period }) => {
      const pages = pagesOf((cursor) => perform(context, "consents export", { ...period, cursor }));
      if (!json) return { json: undefined, text: exportedLines(pages) };
      return { json: { lines: (await allOf(pages)).flatMap(({ lines }) => lines) }, text: "" };
    },
  });
  addCommand(group, {
    usage: "verify",
    readOnly: true,
    summary: "Read an export from standard input; exit code 1 unless it is byte for byte what the service exported",
    example: "verify < november.jsonl",
    input: z.object({}),
    run: async (context) => verified(await readExport(), (file) => comparison(context, file)),
    runWithoutService: async (_, reason) => verified(await readExport(), async () => ({ notCompared: reason })),
  });
};

/** The last line gets its line end as any command's output does. */
export async function* exportedLines(
  pages: AsyncIterable<Pick<ActionOutput<"consents export">, "lines">>,
): AsyncGenerator<string> {
  let separator = "";
  for await (const { lines } of pages) {
    if (lines.length === 0) continue;
    yield `${separator}${lines.join("\n")}`;
    separator = "\n";
  }
}

const readExport = async (): Promise<VerifiedExport> => verifyExport(await readStdin("The export"));

type WholeExport = Extract<VerifiedExport, { readonly isWhole: true }>;

type Comparison =
  | { readonly exportedBy: string; readonly exportedAt: string }
  /** The service answers and has no audit entry of such an export. */
  | { readonly exportedBy: undefined }
  | { readonly notCompared: string };

/** A person who changes a line can compute all hashes anew: only the audit entry shows that this did not happen. */
const comparison = async ({ ledger }: AdminContext, { header, end }: WholeExport): Promise<Comparison> => {
  try {
    const entry = (await readAudit(ledger, header.account)).find(
      ({ action, details }) => action === CONSENTS_EXPORT && details.hash === end.hash && details.count === end.count,
    );
    return entry === undefined
      ? { exportedBy: undefined }
      : { exportedBy: actorName(entry), exportedAt: entry.created_at };
  } catch (error) {
    return { notCompared: error instanceof Error ? error.message : String(error) };
  }
};

const verified = async (file: VerifiedExport, compare: (file: WholeExport) => Promise<Comparison>): Promise<Report> => {
  if (!file.isWhole) {
    const { line, problem } = file;
    return { ok: false, json: { ok: false, line, problem }, text: `Line ${line} is wrong: ${problem}.` };
  }
  const { header, end } = file;
  const found = await compare(file);
  const ok = "exportedAt" in found;
  const recorded = "exportedAt" in found ? { exported_by: found.exportedBy, recorded_at: found.exportedAt } : null;
  return {
    ok,
    json: { ok, ...header, ...end, compared: !("notCompared" in found), recorded },
    text: `${fields({ ...header, ...end })}\n\n${comparisonText(found)}`,
  };
};

const comparisonText = (found: Comparison): string => {
  if ("notCompared" in found) {
    return `The lines are a whole chain, which proves nothing: they were not compared with the audit log (${found.notCompared}).`;
  }
  if (found.exportedBy === undefined) {
    return "The lines are a whole chain, but the audit log has no export with this count and hash: the service did not export this file.";
  }
  return `This is the file that ${found.exportedBy} exported: the audit entry of ${found.exportedAt} has its count and hash.`;
};
