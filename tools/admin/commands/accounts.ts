import type { Command } from "commander";
import * as z from "zod";
import { type Account, requireAccount } from "../../../shared/access/account-store.ts";
import { createAccount, setAccountStatus } from "../../../shared/access/accounts.ts";
import { accountsRuns, accountView } from "../../../shared/actions/accounts.ts";
import { audited } from "../../../shared/actions/action-context.ts";
import { whySchema } from "../../../shared/contract/actions/action.ts";
import { readAudit } from "../../../shared/ledger/audit.ts";
import { readWallet } from "../../../shared/ledger/wallet.ts";
import { nairaNumber } from "../../../shared/platform/money.ts";
import { addCommand, addGroup, type Report, why } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { accountField, nameField } from "../fields.ts";
import { auditTable, auditView } from "../views/audit.ts";
import { keysTable, keyView } from "../views/keys.ts";
import { fields, naira, orNull, sections, table } from "../views/print.ts";

const accountInput = z.object({ account: accountField });
const changeInput = accountInput.extend({ why: whySchema.optional() });

export const addAccounts = (program: Command): void => {
  const group = addGroup(program, "accounts", "Manage the accounts of callers");
  addCommand(group, {
    usage: "create <name>",
    summary: "Create an account with an empty wallet; it needs ips allow and keys create before it can call",
    example: "create checkout",
    options: [why],
    input: z.object({ name: nameField, why: whySchema.optional() }),
    run: async (context, { name, why }) => {
      const store = audited(context, () => ({ action: "accounts create", why, details: { name } }));
      return accountReport(await createAccount(store, { name, whitelist: [] }));
    },
  });
  addCommand(group, {
    usage: "list",
    readOnly: true,
    summary: "List all accounts with their balances, oldest first",
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
    summary: "Refuse all requests of an account from now on (403)",
    example: 'restrict acc_0123456789abcdef01 --why "unpaid invoice 1042"',
    options: [why],
    input: changeInput,
    run: setStatus("restricted", "accounts restrict"),
  });
  addCommand(group, {
    usage: "unrestrict <account>",
    summary: "Accept the requests of a restricted account again",
    example: "unrestrict acc_0123456789abcdef01",
    options: [why],
    input: changeInput,
    run: setStatus("active", "accounts unrestrict"),
  });
};

const accountReport = (account: Account): Report => ({
  json: accountView(account),
  text: fields(accountView(account)),
});

const setStatus =
  (status: Account["status"], action: string) =>
  async (context: AdminContext, { account, why }: z.output<typeof changeInput>): Promise<Report> => {
    const store = audited(context, () => ({ action, why }));
    return accountReport(await setAccountStatus(store, account, status));
  };

const listAccounts = async (context: AdminContext): Promise<Report> => {
  const json = await accountsRuns["accounts list"](context, {});
  const rows = json.accounts.map(({ account_id, name, status, balance, created_at }) => [
    ...[account_id, name, status, naira(balance * 100), created_at],
  ]);
  return { json, text: table(["account", "name", "status", "balance", "created"], rows) };
};

const showAccount = async (
  context: AdminContext,
  { account: accountId }: z.output<typeof accountInput>,
): Promise<Report> => {
  const account = await requireAccount(context.accounts, accountId);
  const [{ balance_kobo, low_balance_threshold_kobo }, audit] = await Promise.all([
    readWallet(context.ledger, accountId),
    readAudit(context.ledger, accountId),
  ]);
  const { url = null, status = null } = account.webhook ?? {};
  const keys = account.keys.map((key) => keyView(key, context.ledger.clock()));
  return {
    json: {
      ...accountView(account),
      balance: nairaNumber(balance_kobo),
      low_balance_threshold: orNull(low_balance_threshold_kobo, nairaNumber),
      ips: account.whitelist,
      keys,
      webhook: url === null ? null : { url, status },
      acts: audit.map(auditView),
    },
    text: sections({
      Account: fields({
        ...accountView(account),
        balance: naira(balance_kobo),
        "low below": orNull(low_balance_threshold_kobo, naira),
        ips: account.whitelist.join(" "),
        webhook: url === null ? null : `${url} (${status})`,
      }),
      Keys: keysTable(keys),
      "Audit log": auditTable(audit),
    }),
  };
};
