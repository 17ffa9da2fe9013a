import type { Command } from "commander";
import * as z from "#zod";
import { CONSENTS_EXPORT } from "../../../shared/actions/consents.ts";
import { momentField } from "../../../shared/contract/transaction-query.ts";
import { verifyExport } from "../../../shared/identity/consent-export.ts";
import { actorName, readAudit } from "../../../shared/ledger/audit.ts";
import { pagesOf } from "../../../shared/platform/pages.ts";
import { addCommand } from "../command.ts";
import { addVerifyCommand, exportReport } from "../exported-file.ts";
import { END_TIME } from "../fields.ts";
import { perform } from "../perform.ts";

export const addCommands = (group: Command): void => {
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
      account: z.string(),
      from: z.optional(momentField),
      to: z.optional(momentField),
      json: z._default(z.boolean(), false),
    }),
    run: (context, { json, ...period }) =>
      exportReport(
        pagesOf((cursor) => perform(context, "consents export", { ...period, cursor })),
        json,
      ),
  });
  addVerifyCommand(group, {
    example: "verify < november.jsonl",
    verify: verifyExport,
    shownOf: ({ header, end }) => ({ ...header, ...end }),
    recordedBy: async ({ ledger }, { header, end }) => {
      const entry = (await readAudit(ledger, header.account)).find(
        ({ action, details }) => action === CONSENTS_EXPORT && details.hash === end.hash && details.count === end.count,
      );
      if (entry === undefined) return undefined;
      const [by, at] = [actorName(entry), entry.created_at];
      return { by, at, json: { exported_by: by, recorded_at: at } };
    },
  });
};
