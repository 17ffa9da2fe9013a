import type { Command } from "commander";
import * as z from "#zod";
import { mayDo } from "../../../shared/contract/actions/actions.ts";
import { orderLimitsText } from "../../../shared/contract/order-limits.ts";
import { entitlementsText } from "../../../shared/contract/permission.ts";
import { addCommand, type Report } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { accountField } from "../fields.ts";
import { perform } from "../perform.ts";
import { auditTable } from "../views/audit.ts";
import { keysTable } from "../views/keys.ts";
import { fields, localTime, nairaText, sections, table } from "../views/print.ts";
import { usageText } from "../views/usage.ts";
import { accountAudit } from "./audit.ts";

const accountInput = z.object({ account: accountField });

export const addCommands = (group: Command): void => {
  addCommand(group, {
    usage: "show <account>",
    readOnly: true,
    summary: "Show an account with its addresses, keys, webhook endpoints and audit log",
    example: "show acc_0123456789abcdef01",
    input: accountInput,
    run: showAccount,
  });
};

const showAccount = async (context: AdminContext, input: z.output<typeof accountInput>): Promise<Report> => {
  const { timeZone } = context;
  const account = await perform(context, "accounts show", input);
  const seesAudit = mayDo({ roles: [context.role], owns: [] }, "audit account");
  const acts = seesAudit ? await accountAudit(context, input.account) : undefined;
  const { balance, low_balance_threshold, owners, entitlements, orders_today, ...others } = account;
  const { duplicate_window_s, order_limits, usage, ips, keys, webhook: _first, webhooks, ...view } = others;
  return {
    json: { ...account, ...(acts && { acts }) },
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
      ...(acts && { "Audit log": auditTable(acts, timeZone) }),
    }),
  };
};
