import type { Command } from "commander";
import * as z from "#zod";
import { type ActionOutput, mayDo } from "../../../shared/contract/actions/actions.ts";
import { orderLimitsText } from "../../../shared/contract/order-limits.ts";
import { entitlementsText } from "../../../shared/contract/permission.ts";
import { counted } from "../../../shared/contract/values/counted.ts";
import { addCommand, type Report } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { perform } from "../perform.ts";
import { auditTable } from "../views/audit.ts";
import { fields, localTime, nairaText, sections, table, timeCell } from "../views/print.ts";
import { latestAudit } from "./audit.ts";

const accountInput = z.object({ account: z.string() });

export const addCommands = (group: Command): void => {
  addCommand(group, {
    usage: "show <account>",
    readOnly: true,
    summary: "Show an account with its addresses, keys, webhook endpoints and its latest audit entries",
    example: "show acc_0123456789abcdef01",
    input: accountInput,
    run: showAccount,
  });
};

const LATEST = "Audit log, its latest entries (audit ACCOUNT shows all)";

const showAccount = async (context: AdminContext, input: z.output<typeof accountInput>): Promise<Report> => {
  const { timeZone } = context;
  const account = await perform(context, "accounts show", input);
  const seesAudit = mayDo({ roles: [context.role], owns: [] }, "audit account");
  const audit = seesAudit ? await latestAudit(context, input.account) : undefined;
  const { balance, low_balance_threshold, owners, entitlements, orders_today, ...others } = account;
  const { duplicate_window_s, order_limits, usage, ips, keys, webhook: _first, webhooks, ...view } = others;
  return {
    json: { ...account, ...(audit && { acts: audit.acts }) },
    text: sections({
      Account: fields({
        ...view,
        created_at: localTime(view.created_at, timeZone),
        balance: nairaText(balance),
        "low below": low_balance_threshold === null ? null : nairaText(low_balance_threshold),
        ...(owners && { owners: owners.map(({ kind, value }) => `${kind}:${value}`).join(", ") }),
        "entitled to": entitlementsText(entitlements),
        ...Object.fromEntries(Object.entries(orders_today).map(([each, count]) => [`${each} today`, count])),
        ...(duplicate_window_s !== undefined && { "refuses duplicates for": `${duplicate_window_s} s` }),
        ...(order_limits && { limits: orderLimitsText(order_limits) }),
        ...(usage && { used: usageText(usage) }),
        ...(ips && { ips: ips.join(" ") }),
      }),
      ...(keys && { Keys: keysTable(keys, timeZone) }),
      Webhooks: table(
        ["endpoint", "name", "url", "status"],
        webhooks.map(({ endpoint, name, url, status }) => [endpoint, name, url, status]),
      ),
      ...(audit && { [audit.isWhole ? "Audit log" : LATEST]: auditTable(audit.acts, timeZone) }),
    }),
  };
};

type Account = ActionOutput<"accounts show">;

const keysTable = (keys: NonNullable<Account["keys"]>, timeZone: string): string =>
  table(
    ["key", "name", "last four", "mode", "status", "permissions", "limits", "created", "expires"],
    keys.map((key) => [
      ...[key.key_id, key.name, key.last_four, key.mode, key.status, key.permissions.join()],
      ...[key.order_limits && orderLimitsText(key.order_limits), timeCell(key.created_at, timeZone)],
      timeCell(key.expires_at, timeZone),
    ]),
  );

/** What limits count, in one line. */
const usageText = ({ day, day_naira, day_orders, month_naira, month_orders }: NonNullable<Account["usage"]>): string =>
  `${nairaText(day_naira)} in ${counted(day_orders, "order")} on ${day}, ${nairaText(month_naira)} in ${month_orders} in its month`;
