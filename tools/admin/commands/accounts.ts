import type { Command } from "commander";
import * as z from "zod";
import { accountsRuns } from "../../../shared/actions/accounts.ts";
import { auditView } from "../../../shared/actions/audit.ts";
import { accountNameSchema, accountsActions } from "../../../shared/contract/actions/accounts.ts";
import { whySchema } from "../../../shared/contract/actions/action.ts";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { readAudit } from "../../../shared/ledger/audit.ts";
import { addCommand, addGroup, type Report, why } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { accountField, ownersField } from "../fields.ts";
import { auditTable } from "../views/audit.ts";
import { keysTable } from "../views/keys.ts";
import { fields, naira, sections, table } from "../views/print.ts";

const accountInput = z.object({ account: accountField });
const changeInput = accountInput.extend({ why: whySchema.optional() });

export const addAccounts = (program: Command): void => {
  const group = addGroup(program, "accounts", "Manage the accounts of callers");
  addCommand(group, {
    usage: "create <name>",
    summary: accountsActions["accounts create"].summary,
    example: "create checkout",
    options: [why],
    input: z.object({ name: accountNameSchema, why: whySchema.optional() }),
    run: async (context, input) => accountReport(await accountsRuns["accounts create"](context, input)),
  });
  addCommand(group, {
    usage: "list",
    readOnly: true,
    summary: accountsActions["accounts list"].summary,
    example: "list",
    input: z.object({}),
    run: listAccounts,
  });
  addCommand(group, {
    usage: "show <account>",
    readOnly: true,
    summary: "Show an account with its addresses, keys, webhook and audit log",
    example: "show acc_0123456789abcdef01",
    input: accountInput,
    run: showAccount,
  });
  addCommand(group, {
    usage: "restrict <account>",
    summary: accountsActions["accounts restrict"].summary,
    example: 'restrict acc_0123456789abcdef01 --why "unpaid invoice 1042"',
    options: [why],
    input: changeInput,
    run: async (context, input) => accountReport(await accountsRuns["accounts restrict"](context, input)),
  });
  addCommand(group, {
    usage: "unrestrict <account>",
    summary: accountsActions["accounts unrestrict"].summary,
    example: "unrestrict acc_0123456789abcdef01",
    options: [why],
    input: changeInput,
    run: async (context, input) => accountReport(await accountsRuns["accounts unrestrict"](context, input)),
  });
  addCommand(group, {
    usage: "owners <account>",
    summary: "Set who may manage an account in the console, in place of those who could before",
    example: "owners acc_0123456789abcdef01 --set email:ada@example.com group:checkout-team",
    options: [
      {
        flags: "--set <owners...>",
        text: "email:ADDRESS, as the identity provider has verified it, or group:NAME; none for nobody",
        required: true,
      },
      why,
    ],
    input: changeInput.extend({ set: ownersField }),
    run: async (context, { account, set, why }) => {
      const json = await accountsRuns["accounts owners"](context, { account, owners: set, why });
      return {
        json,
        text: table(
          ["kind", "owner"],
          json.owners.map(({ kind, value }) => [kind, value]),
        ),
      };
    },
  });
};

const accountReport = (account: ActionOutput<"accounts create">): Report => ({ json: account, text: fields(account) });

const listAccounts = async (context: AdminContext): Promise<Report> => {
  const json = await accountsRuns["accounts list"](context, {});
  const rows = json.accounts.map(({ account_id, name, status, balance, created_at }) => [
    ...[account_id, name, status, naira(balance * 100), created_at],
  ]);
  return { json, text: table(["account", "name", "status", "balance", "created"], rows) };
};

const showAccount = async (context: AdminContext, input: z.output<typeof accountInput>): Promise<Report> => {
  const account = await accountsRuns["accounts show"](context, input);
  const audit = await readAudit(context.ledger, input.account);
  const { balance, low_balance_threshold, owners, ips, keys, webhook, ...view } = account;
  return {
    json: { ...account, acts: audit.map(auditView) },
    text: sections({
      Account: fields({
        ...view,
        balance: naira(balance * 100),
        "low below": low_balance_threshold === null ? null : naira(low_balance_threshold * 100),
        ...(owners && { owners: owners.map(({ kind, value }) => `${kind}:${value}`).join(", ") }),
        ips: ips.join(" "),
        webhook: webhook === null ? null : `${webhook.url} (${webhook.status})`,
      }),
      Keys: keysTable(keys),
      "Audit log": auditTable(audit),
    }),
  };
};
