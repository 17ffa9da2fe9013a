import type { Command } from "commander";
import * as z from "#zod";
import { periodsActions } from "../../../shared/contract/actions/periods.ts";
import { pagesOf } from "../../../shared/platform/pages.ts";
import { addCommand } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { perform } from "../perform.ts";
import { metaOf } from "../schemas.ts";
import { type ExportedAccount, exportFormats } from "../views/period-export.ts";

const { month } = periodsActions["periods show"].input.shape;
const formats = z.enum(["csv", "jsonl", "journal"], "Must be csv, jsonl or journal");

export const addLedgerExport = (group: Command): void => {
  addCommand(group, {
    usage: "export",
    readOnly: true,
    isAction: true,
    summary: "Print every line of a closed period: CSV, JSON Lines, or a double-entry journal that hledger reads",
    example: "export --period 2026-10 --format journal > october.journal",
    options: [
      { flags: "--period <month>", text: metaOf(month).description ?? "", required: true },
      { flags: "--format <format>", text: formats.options.join(", "), fallback: "csv" },
    ],
    input: z.object({ period: month, format: z._default(formats, "csv"), json: z._default(z.boolean(), false) }),
    run: async (context, { period: of, format, json }) => {
      const period = await perform(context, "periods show", { month: of });
      if (!json) return { json: undefined, text: exportFormats[format](period, accountsOf(context, of)) };
      const parts = await Array.fromAsync(exportFormats.jsonl(period, accountsOf(context, of)));
      const records = parts
        .join("")
        .split("\n")
        .map((line): unknown => JSON.parse(line));
      return { json: { records }, text: "" };
    },
  });
};

async function* accountsOf(context: AdminContext, of: string): AsyncGenerator<ExportedAccount> {
  for await (const { accounts } of pagesOf((cursor) => perform(context, "periods accounts", { month: of, cursor }))) {
    for (const sums of accounts) {
      const account = sums.account_id;
      yield {
        sums,
        pages: pagesOf((cursor) => perform(context, "periods lines", { month: of, account, cursor })),
      };
    }
  }
}
