import type { Command } from "commander";
import * as z from "#zod";
import { auditItem, recordAudited } from "../../../shared/actions/action-context.ts";
import { notReconciled, type ReconciledWallet, reconcileWallets } from "../../../shared/actions/reconcile-wallets.ts";
import { whySchema } from "../../../shared/contract/actions/action.ts";
import { periodsActions } from "../../../shared/contract/actions/periods.ts";
import { counted } from "../../../shared/contract/values/counted.ts";
import { nairaFromKobo } from "../../../shared/contract/values/money.ts";
import { SERVICE } from "../../../shared/ledger/audit.ts";
import { readCheckpoint } from "../../../shared/ledger/checkpoint.ts";
import { accountIdsOf } from "../../../shared/ledger/query-index.ts";
import { readPurchasesSwitch } from "../../../shared/orders/purchases-switch.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { pagesOf } from "../../../shared/platform/pages.ts";
import { reconcileAndCheckpoint } from "../../../shared/reconciliation/reconcile-wallet.ts";
import { type CarriedItems, carryItems, zeroCounts } from "../carry-over/items.ts";
import { kindOf } from "../carry-over/kinds.ts";
import { recomputePayments } from "../carry-over/payments.ts";
import { recomputeWallets, type WalletResult } from "../carry-over/wallets.ts";
import { addCommand, type Report, why } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { perform } from "../perform.ts";
import { metaOf } from "../schemas.ts";
import { readItemMap } from "../table-scan.ts";
import { type ExportedAccount, exportFormats } from "../views/period-export.ts";
import { koboText, logProgress, orNull, sections, table } from "../views/print.ts";
import { reconciledJson, reconciledTable } from "../views/wallets.ts";

const tableField = z.string().check(z.regex(/^[A-Za-z0-9_.-]{3,255}$/, "Must be the name of a DynamoDB table"));
const input = z.object({
  from: tableField,
  to: z.optional(tableField),
  dryRun: z._default(z.boolean(), false),
  why: z.optional(whySchema),
});

const { month } = periodsActions["periods show"].input.shape;
const formats = z.enum(["csv", "jsonl", "journal"]);

export const addCommands = (group: Command): void => {
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
  addCommand(group, {
    usage: "carry-over",
    summary:
      "Copy what a restored ledger lacks from the old one, recompute all balances and reconcile all wallets; safe to retry",
    example: "carry-over --from OLD_TABLE --to NEW_TABLE --dry-run",
    options: [
      { flags: "--from <table>", text: "the old ledger", required: true },
      { flags: "--to <table>", text: "the restored ledger; default: the service's ledger" },
      { flags: "--dry-run", text: "show what would be copied and change nothing" },
      { ...why, text: `${why.text}; required unless --dry-run` },
    ],
    input,
    run: carryOver,
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

/** Neither ledger may change during a carry-over: a purchase, refund or delivery would be in one of them only. */
const assertStopped = async (context: AdminContext): Promise<void> => {
  const { WORKERS } = context.target.environment;
  const { purchases } = await readPurchasesSwitch(context.purchases);
  if (purchases === "off" && WORKERS === "off") return;
  throw new OperatorError(
    `Purchases are ${purchases} and workers are ${WORKERS} at ${context.target.name}. ` +
      'Run purchases off, and deploy the setting workers: "off", first',
  );
};

const carryOver = async (service: AdminContext, { from, to, dryRun, why }: z.output<typeof input>): Promise<Report> => {
  await assertStopped(service);
  if (!dryRun && why === undefined) throw new OperatorError("--why is required unless --dry-run");
  const ledger = { ...service.ledger, table: to ?? service.ledger.table };
  const context = { ...service, ledger };
  if (from === ledger.table)
    throw new OperatorError(`--from and --to are both ${from}. They must be the old ledger and the restored one`);
  // Both tables must exist before anything is written.
  for (const name of [from, ledger.table]) await readItemMap(ledger.db, name, [SERVICE]);
  const auditFields = { action: "ledger carry-over", why };
  if (!dryRun) await recordAudited(context, SERVICE, { ...auditFields, details: { from } });

  const items = await carryItems({ db: ledger.db, from, to: ledger.table }, { isDryRun: dryRun, logProgress });
  const accounts = new Set(items.accountIds);
  for (const accountId of await accountIdsOf(ledger)) accounts.add(accountId);
  const totals = new Map<string, number>();
  const payments = await recomputePayments(ledger);
  const wallets = await recomputeWallets(ledger, accounts, {
    plannedChanges: items.balanceChanges,
    logProgress,
    onItem: (item) => {
      const name = kindOf(item.pk)?.name ?? "other";
      totals.set(name, (totals.get(name) ?? 0) + 1);
      payments.add(item);
    },
    ...(!dryRun && { audit: (accountId, details) => auditItem(context, accountId, { ...auditFields, details }) }),
  });
  if (!dryRun) await payments.write();
  const present = wallets.filter(({ result }) => result !== "no_wallet").map(({ account_id }) => account_id);
  const reconciled = dryRun ? [] : await reconcileWallets(ledger, present, logProgress);
  for (const { account_id } of reconciled)
    await reconcileAndCheckpoint(ledger, await readCheckpoint(ledger, account_id));
  const onlyInTo = onlyIn(totals, items.counts, dryRun);
  return reportOf({ from, to: ledger.table, dryRun, items, onlyInTo, wallets, reconciled });
};

/** How many items of each kind only the restored ledger has: its total minus those that both have. */
const onlyIn = (
  totals: ReadonlyMap<string, number>,
  counts: CarriedItems["counts"],
  isDryRun: boolean,
): ReadonlyMap<string, number> =>
  new Map(
    [...totals].map(([name, total]) => {
      const { present = 0, differ = 0, updated = 0, skipped = 0, copied = 0 } = counts.get(name) ?? {};
      return [name, Math.max(0, total - present - differ - updated - skipped - (isDryRun ? 0 : copied))];
    }),
  );

/** A restored ledger was never in use, so it has no transactions of its own. */
const swappedNote = ({ from, to, items, onlyInTo }: CarryOverResult): readonly string[] => {
  const only = onlyInTo.get("transactions") ?? 0;
  return only <= (items.counts.get("transactions")?.copied ?? 0)
    ? []
    : [`${to} has ${counted(only, "transaction")} that ${from} lacks. Are --from and --to swapped?`];
};

type CarryOverResult = {
  readonly from: string;
  readonly to: string;
  readonly dryRun: boolean;
  readonly items: CarriedItems;
  readonly onlyInTo: ReadonlyMap<string, number>;
  readonly wallets: readonly WalletResult[];
  readonly reconciled: readonly ReconciledWallet[];
};

const reportOf = (result: CarryOverResult): Report => {
  const { from, to, dryRun, items, onlyInTo, wallets, reconciled } = result;
  const names = [...new Set([...items.counts.keys(), ...onlyInTo.keys()])].toSorted();
  const counts = names.map((name) => ({
    name,
    ...(items.counts.get(name) ?? zeroCounts),
    only_in_to: onlyInTo.get(name) ?? 0,
  }));
  const notes = [...swappedNote(result), ...items.notes];
  const changed = wallets.filter(({ result }) => result !== "right");
  const differing = notReconciled(reconciled);
  const ok =
    items.discrepancies.length === 0 && differing.length === 0 && changed.every(({ result }) => result === "corrected");
  return {
    ok,
    json: {
      ok,
      dry_run: dryRun,
      from,
      to,
      items: Object.fromEntries(counts.map(({ name, ...each }) => [name, each])),
      discrepancies: items.discrepancies,
      notes,
      wallets: changed.map(({ account_id, result, before_kobo, after_kobo }) => ({
        account_id,
        result,
        before: orNull(before_kobo, nairaFromKobo),
        after: nairaFromKobo(after_kobo),
      })),
      verified: reconciled.length - differing.length,
      not_verified: reconciledJson(differing),
    },
    text: sections({
      [dryRun ? `To copy from ${from} to ${to}` : `Copied from ${from} to ${to}`]: table(
        ["items", "copied", "updated", "present", "differ", "unreadable", "skipped", "unknown", "only in --to"],
        counts.map((each) => [
          ...[each.name, each.copied, each.updated, each.present, each.differ],
          ...[each.unreadable, each.skipped, each.unknown, each.only_in_to],
        ]),
      ),
      "Decide by hand": table(
        ["item", "reason"],
        items.discrepancies.map(({ item, what }) => [item, what]),
      ),
      Notes: notes.join("\n") || "None.",
      "Changed balances": table(
        ["account", "result", "before", "after"],
        changed.map(({ account_id, result, before_kobo, after_kobo }) => [
          account_id,
          result,
          orNull(before_kobo, koboText),
          koboText(after_kobo),
        ]),
      ),
      "Wallets that do not reconcile": dryRun ? "A dry run reconciles no wallet." : reconciledTable(differing),
    }),
  };
};
