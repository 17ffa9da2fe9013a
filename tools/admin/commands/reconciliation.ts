import type { Command } from "commander";
import * as z from "#zod";
import { STATEMENT_EXPORT } from "../../../shared/actions/reconciliation.ts";
import { counted } from "../../../shared/contract/values/counted.ts";
import { koboText } from "../../../shared/contract/values/money.ts";
import { actorName, SERVICE } from "../../../shared/ledger/audit.ts";
import type { ChainEnd } from "../../../shared/platform/chained-lines.ts";
import { pagesOf } from "../../../shared/platform/pages.ts";
import { verifyPack } from "../../../shared/upstream-statement/statement-pack.ts";
import { documentedColumns, readColumnMap } from "../../statement-import/columns.ts";
import {
  type Case,
  casesOf,
  type Imported,
  type Importer,
  importStatement,
} from "../../statement-import/import-statement.ts";
import { addCommand } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { addVerifyCommand, exportReport } from "../exported-file.ts";
import { perform } from "../perform.ts";
import { logProgress, table } from "../views/print.ts";
import { totalsTable } from "../views/reconciliation.ts";

const dayField = z.iso.date("Must be a day such as 2026-11-21");

export const addCommands = (group: Command): void => {
  addCommand(group, {
    usage: "import <file>",
    isAction: true,
    summary: "Store the upstream's statement of a day and compare it with our books; exit code 1 while a case is open",
    texts: { file: "a CSV file; a day may have several, and a file may be imported again" },
    example: "import --day 2026-11-21 --columns map.json statement.csv",
    options: [
      { flags: "--day <day>", text: "the day of the statement, in the upstream's time zone", required: true },
      {
        flags: "--columns <map>",
        text: "a JSON file that says how columns are read; default: the documented upstream's",
      },
    ],
    input: z.object({ file: z.string(), day: dayField, columns: z.optional(z.string()) }),
    run: async (context, { file: path, day, columns }) => {
      const map = columns === undefined ? documentedColumns : readColumnMap(columns);
      const imported = await importStatement(importerOf(context), { path, day, map });
      return { ok: imported.open_cases === 0, json: imported, text: importedText(imported) };
    },
  });
  addCommand(group, {
    usage: "export <day>",
    isAction: true,
    summary: "Print a signed-off day as JSON Lines; the audit log records count and last hash",
    texts: { day: "a day that is signed off" },
    example: "export 2026-11-21 > 2026-11-21.jsonl",
    input: z.object({ day: dayField, json: z._default(z.boolean(), false) }),
    run: (context, { day, json }) =>
      exportReport(
        pagesOf((cursor) => perform(context, "reconciliation statements export", { day, cursor })),
        json,
      ),
  });
  addVerifyCommand(group, {
    example: "verify < 2026-11-21.jsonl",
    verify: verifyPack,
    shownOf: ({ header: { day, signed_off }, end }) => ({
      day,
      signed_off_by: signed_off.by,
      signed_off_at: signed_off.at,
      ...end,
    }),
    recordedBy: (context, { end }) => exporterOf(context, end),
  });
};

export const addCaseCommands = (group: Command): void => {
  addCommand(group, {
    usage: "list <day>",
    readOnly: true,
    isAction: true,
    summary: "List the cases of a day: what differs between its statement and our books",
    texts: { day: "the day of the statement" },
    example: "list 2026-11-21",
    input: z.object({ day: dayField }),
    run: async (context, { day }) => {
      const cases = await casesOf(importerOf(context), day);
      return { json: { cases }, text: casesTable(cases) };
    },
  });
};

const importerOf = (context: AdminContext): Importer => ({
  act: (name, input) => perform(context, name, input),
  onProgress: logProgress,
});

const amountCell = (side: { readonly amount_kobo: number } | undefined): string | undefined =>
  side && koboText(side.amount_kobo);

const casesTable = (cases: readonly Case[]): string =>
  table(
    ["case", "class", "state", "decision", "ours", "theirs", "our status", "their status", "line"],
    cases.map(({ case: id, class: name, state, decisions, order, row }) => [
      ...[id, name, state, decisions.at(-1)?.decision],
      ...[amountCell(order), amountCell(row), order?.status, row?.status, row?.line],
    ]),
  );

const importedText = ({ day, rows, stored, open_cases, totals }: Imported): string => {
  const cases = `reconciliation cases list ${day} shows them`;
  return [
    `${counted(rows, "row")}: ${stored} stored now, ${rows - stored} stored before.`,
    totalsTable(totals),
    open_cases === 0 ? "No case is open." : `Open cases: ${open_cases}. ${cases}.`,
  ].join("\n\n");
};

const exporterOf = async (context: AdminContext, { count, hash }: ChainEnd) => {
  for await (const { entries } of pagesOf((cursor) => perform(context, "audit list", { account: SERVICE, cursor }))) {
    const entry = entries.find(
      ({ action, details }) => action === STATEMENT_EXPORT && details.hash === hash && details.count === count,
    );
    if (entry === undefined) continue;
    const json = { by: actorName(entry), at: entry.at };
    return { ...json, json };
  }
  return undefined;
};
