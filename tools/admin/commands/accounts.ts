import type { Command } from "commander";
import * as z from "zod";
import { type Account, accountIds, requireAccount } from "../../../shared/access/account-store.ts";
import { createAccount, setAccountStatus } from "../../../shared/access/accounts.ts";
import { readAudit } from "../../../shared/ledger/audit.ts";
import { readWallet } from "../../../shared/ledger/wallet.ts";
import { addCommand, addGroup, type Report, why } from "../command.ts";
import { type AdminContext, audited } from "../context.ts";
import { accountField, nameField, whyField } from "../fields.ts";
import { actsTable, actView } from "../views/audit.ts";
import { fields, naira, nairaNumber, orNull, sections, table } from "../views/print.ts";
import { keysTable, keyView } from "./keys.ts";

const account = z.object({ account: accountField });
const change = account.extend({ why: whyField.optional() });

export const addAccounts = (program: Command): void => {
  const group = addGroup(program, "accounts", "Accounts: one for each app");
  addCommand(group, {
    usage: "create <name>",
    summary: "make an account with an empty wallet; nobody gets in before an address is allowed and a key is made",
    example: "create checkout",
    options: [why],
    input: z.object({ name: nameField, why: whyField.optional() }),
    run: async (context, { name, why }) => {
      const store = audited(context, () => ({ action: "accounts create", why, details: { name } }));
      return one(await createAccount(store, { name, whitelist: [] }));
    },
  });
  addCommand(group, {
    usage: "list",
    readOnly: true,
    summary: "all accounts, oldest first, with their balances",
    example: "list",
    input: z.object({}),
    run: listAccounts,
  });
  addCommand(group, {
    usage: "show <account>",
    readOnly: true,
    summary: "one account with its addresses, keys, webhook and what was done to it",
    example: "show acc_0123456789abcdef01",
    input: account,
    run: showAccount,
  });
  addCommand(group, {
    usage: "restrict <account>",
    summary: "refuse all requests of an account from now on (403)",
    example: 'restrict acc_0123456789abcdef01 --why "unpaid invoice 1042"',
    options: [why],
    input: change,
    run: async (context, { account, why }) =>
      one(
        await setAccountStatus(
          audited(context, () => ({ action: "accounts restrict", why })),
          account,
          "restricted",
        ),
      ),
  });
  addCommand(group, {
    usage: "unrestrict <account>",
    summary: "lift a restriction",
    example: "unrestrict acc_0123456789abcdef01",
    options: [why],
    input: change,
    run: async (context, { account, why }) =>
      one(
        await setAccountStatus(
          audited(context, () => ({ action: "accounts unrestrict", why })),
          account,
          "active",
        ),
      ),
  });
};

const view = ({ account_id, name, status, created_at }: Account) => ({ account_id, name, status, created_at });

const one = (row: Account): Report => ({ json: view(row), text: fields(view(row)) });

const listAccounts = async (context: AdminContext): Promise<Report> => {
  const accounts: (ReturnType<typeof view> & { readonly balance_kobo: number })[] = [];
  for await (const accountId of accountIds(context.accounts)) {
    const [row, { balance_kobo }] = await Promise.all([
      requireAccount(context.accounts, accountId),
      readWallet(context.ledger, accountId),
    ]);
    accounts.push({ ...view(row), balance_kobo });
  }
  return {
    json: {
      accounts: accounts.map(({ balance_kobo, ...row }) => ({ ...row, balance: nairaNumber(balance_kobo) })),
    },
    text: table(
      ["account", "name", "status", "balance", "created"],
      accounts.map((row) => [row.account_id, row.name, row.status, naira(row.balance_kobo), row.created_at]),
    ),
  };
};

const showAccount = async (context: AdminContext, { account }: z.output<typeof change>): Promise<Report> => {
  const row = await requireAccount(context.accounts, account);
  const [{ balance_kobo, low_balance_threshold_kobo }, acts] = await Promise.all([
    readWallet(context.ledger, account),
    readAudit(context.ledger, account),
  ]);
  const { url = null, status = null } = row.webhook ?? {};
  const keys = row.keys.map((key) => keyView(key, context.ledger.clock()));
  return {
    json: {
      ...view(row),
      balance: nairaNumber(balance_kobo),
      low_balance_threshold: orNull(low_balance_threshold_kobo, nairaNumber),
      ips: row.whitelist,
      keys,
      webhook: url === null ? null : { url, status },
      acts: acts.map(actView),
    },
    text: sections({
      Account: fields({
        ...view(row),
        balance: naira(balance_kobo),
        "low below": orNull(low_balance_threshold_kobo, naira),
        ips: row.whitelist.join(" "),
        webhook: url === null ? null : `${url} (${status})`,
      }),
      Keys: keysTable(keys),
      "What was done to it": actsTable(acts),
    }),
  };
};
