import type { Command } from "commander";
import * as z from "#zod";
import { whySchema } from "../../../shared/contract/actions/action.ts";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { periodsActions } from "../../../shared/contract/actions/periods.ts";
import { counted } from "../../../shared/contract/values/counted.ts";
import { pagesOf } from "../../../shared/platform/pages.ts";
import { sleep } from "../../../shared/platform/time.ts";
import { addCommand, type Report, why } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { perform } from "../perform.ts";
import { metaOf } from "../schemas.ts";
import { periodText } from "../views/periods.ts";
import { duration, logProgress, nairaText, table } from "../views/print.ts";

const { month } = periodsActions["periods show"].input.shape;

export const addCommands = (group: Command): void => {
  addCommand(group, {
    usage: "close <month>",
    isAction: true,
    asks: true,
    summary: `${periodsActions["periods close"].summary}. Safe to interrupt and to repeat`,
    example: 'close 2026-10 --why "month end"',
    texts: { month: metaOf(month).description ?? "" },
    options: [why],
    input: z.object({ month, why: z.optional(whySchema) }),
    run: closeMonth,
  });
  addCommand(group, {
    usage: "verify <month>",
    readOnly: true,
    isAction: true,
    summary: `${periodsActions["periods verify"].summary}; exit code 1 if one differs`,
    example: "verify 2026-10",
    texts: { month: metaOf(month).description ?? "" },
    input: z.object({ month }),
    run: verifyMonth,
  });
  addCommand(group, {
    usage: "accounts <month>",
    readOnly: true,
    isAction: true,
    summary: periodsActions["periods accounts"].summary,
    example: "accounts 2026-10",
    texts: { month: metaOf(month).description ?? "" },
    input: z.object({ month }),
    run: async (context, input) => {
      const pages = pagesOf((cursor) => perform(context, "periods accounts", { ...input, cursor }));
      const accounts = (await Array.fromAsync(pages)).flatMap((page) => page.accounts);
      const rows = accounts.map(({ account_id, opening, lines, closing, open_orders, hash }) => [
        ...[account_id, nairaText(opening), lines, nairaText(closing), open_orders, hash],
      ]);
      return {
        json: { accounts },
        text: table(["account", "opening", "lines", "closing", "open orders", "hash"], rows),
      };
    },
  });
};

type Progress = Pick<ActionOutput<"periods close">, "accounts" | "accounts_done">;

/** At most one line for each tenth of the accounts. */
const progressOf = (what: string) => {
  let printed = -1;
  return ({ accounts, accounts_done }: Progress): void => {
    const tenth = accounts === 0 ? 10 : Math.floor((accounts_done / accounts) * 10);
    if (tenth === printed) return;
    printed = tenth;
    logProgress(`${what}: ${accounts_done.toLocaleString("en-GB")} of ${counted(accounts, "account")}`);
  };
};

const closeMonth = async (
  context: AdminContext,
  input: { readonly month: string; readonly why?: string | undefined },
): Promise<Report> => {
  const progress = { sealing: progressOf("Sealed"), closing: progressOf("Closed"), closed: progressOf("Closed") };
  let cursor: string | undefined;
  for (;;) {
    const result = await perform(context, "periods close", { ...input, cursor });
    progress[result.state](result);
    if (result.period !== null) return { json: result.period, text: periodText(result.period) };
    if (result.wait_ms > 0) {
      logProgress(`Waiting ${duration(result.wait_ms)} until the lines of an account agree with its wallet ...`);
      await sleep(result.wait_ms);
    }
    cursor = result.next_cursor ?? undefined;
  }
};

const verifyMonth = async (context: AdminContext, input: { readonly month: string }): Promise<Report> => {
  const progress = progressOf("Verified");
  const differences: ActionOutput<"periods verify">["differences"] = [];
  for await (const page of pagesOf((cursor) => perform(context, "periods verify", { ...input, cursor }))) {
    progress(page);
    differences.push(...page.differences);
  }
  const ok = differences.length === 0;
  const rows = differences.map(({ account_id, what }) => [account_id ?? "the service", what]);
  const text = ok ? `${input.month} is as it was closed.` : table(["account", "what differs"], rows);
  return { ok, json: { ok, month: input.month, differences }, text };
};
