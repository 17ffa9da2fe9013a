import type { Command } from "commander";
import * as z from "zod";
import { type Account, findAccount, requireAccount } from "../../../shared/access/account-store.ts";
import {
  createKey,
  defaultPermissions,
  type NewKey,
  revokeKey,
  revokeUnlistedKey,
  rotateKey,
} from "../../../shared/access/accounts.ts";
import { hashApiKey, isWellFormedKey } from "../../../shared/access/api-key.ts";
import { findKey } from "../../../shared/access/key-store.ts";
import { reconcileKeys, revokeOrphan, scanKeyItems } from "../../../shared/access/reconcile-keys.ts";
import { audited, auditItem } from "../../../shared/actions/action-context.ts";
import { whySchema } from "../../../shared/contract/actions/action.ts";
import { modeSchema } from "../../../shared/contract/transaction.ts";
import { SERVICE } from "../../../shared/ledger/audit.ts";
import { accountIdsOf } from "../../../shared/ledger/query-index.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { addCommand, addGroup, type Report, why } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { accountField, durationField, permissionsField } from "../fields.ts";
import { readStdin } from "../stdin.ts";
import { keysTable, keyView } from "../views/keys.ts";
import { fields, table } from "../views/print.ts";

const keyField = z
  .string()
  .refine(
    (text) => !isWellFormedKey(text),
    "Must be a key id, not the key itself. keys find reads a key from standard input and shows its id",
  )
  .regex(/^key_[0-9a-f]+$/, "Must be a key id such as key_0123456789abcdef01");

export const addKeys = (program: Command): void => {
  const group = addGroup(program, "keys", "Manage API keys");
  addCommand(group, {
    usage: "create <account>",
    summary: "Create a key and show it once",
    example: "create acc_0123456789abcdef01 --mode live --permissions vtu,identity",
    options: [
      { flags: "--mode <mode>", text: "live, or test for the sandbox", required: true },
      {
        flags: "--permissions <list>",
        text: "comma-separated: vtu, identity, identity:retrieve",
        fallback: defaultPermissions.join(),
      },
      why,
    ],
    input: z.object({
      account: accountField,
      mode: z.enum(modeSchema.options, "Must be live or test"),
      permissions: permissionsField,
      why: whySchema.optional(),
    }),
    run: async (context, { account, mode, permissions, why }) => {
      const store = audited(context, ({ keys }) => ({
        action: "keys create",
        why,
        details: { key_id: keys.at(-1)?.key_id ?? "", mode, permissions: permissions.join() },
      }));
      return newKeyReport(account, await createKey(store, account, { mode, permissions }), { mode, permissions });
    },
  });
  addCommand(group, {
    usage: "list <account>",
    readOnly: true,
    summary: "List an account's keys by id",
    example: "list acc_0123456789abcdef01",
    input: z.object({ account: accountField }),
    run: async (context, { account }) => {
      const { keys } = await requireAccount(context.accounts, account);
      const views = keys.map((key) => keyView(key, context.ledger.clock()));
      return { json: { account_id: account, keys: views }, text: keysTable(views) };
    },
  });
  addCommand(group, {
    usage: "rotate <key>",
    summary: "Replace a key; the old one expires after the overlap",
    example: "rotate key_0123456789abcdef01 --overlap 24h",
    options: [
      { flags: "--overlap <time>", text: "how long the old key stays valid: 0, 30m, 24h, 7d", fallback: "24h" },
      why,
    ],
    input: z.object({ key: keyField, overlap: durationField, why: whySchema.optional() }),
    run: async (context, { key, overlap, why }) => {
      const account = await findAccountOfKey(context, key);
      if (account === undefined) throw noSuchKey(key);
      assertNotRotated(account.keys.find(({ key_id }) => key_id === key));
      const store = audited(context, ({ keys }) => ({
        action: "keys rotate",
        why,
        details: { key_id: keys.at(-1)?.key_id ?? "", instead_of: key },
      }));
      const { expiresAt, ...newKey } = await rotateKey(store, account.account_id, key, overlap);
      return newKeyReport(account.account_id, newKey, { instead_of: key, which_ends_at: expiresAt });
    },
  });
  addCommand(group, {
    usage: "revoke <key>",
    summary: "Refuse a key from now on (401)",
    example: 'revoke key_0123456789abcdef01 --why "leaked"',
    options: [why],
    input: z.object({ key: keyField, why: whySchema.optional() }),
    run: async (context, { key, why }) => {
      const accountId = await revoke(context, key, why);
      const json = { account_id: accountId, key_id: key, status: "revoked" };
      return { json, text: fields(json) };
    },
  });
  addCommand(group, {
    usage: "reconcile",
    summary:
      "After a restore, make the keys in the ledger and in the access table agree; the more restrictive side wins",
    example: "reconcile --dry-run",
    options: [{ flags: "--dry-run", text: "show the differences and change nothing" }, why],
    input: z.object({ dryRun: z.boolean().default(false), why: whySchema.optional() }),
    run: reconcile,
  });
  addCommand(group, {
    usage: "find",
    readOnly: true,
    summary: "Find the account of a key, which is read from standard input",
    example: "find < leaked-key.txt",
    input: z.object({}),
    run: find,
  });
};

const newKeyReport = (
  accountId: string,
  { key, keyId }: NewKey,
  more: Readonly<Record<string, string | readonly string[]>>,
): Report => {
  const json = { account_id: accountId, key_id: keyId, key, ...more };
  const lines = Object.entries(json).map(([name, value]) => [name, Array.isArray(value) ? value.join() : value]);
  return { json, text: `${fields(Object.fromEntries(lines))}\n\nThe key is not shown again.` };
};

const noSuchKey = (keyId: string): OperatorError => new OperatorError(`There is no key ${keyId}`);

const findAccountOfKey = async (context: AdminContext, keyId: string): Promise<Account | undefined> => {
  for (const accountId of await accountIdsOf(context.ledger)) {
    const account = await findAccount(context.accounts, accountId);
    if (account?.keys.some(({ key_id }) => key_id === keyId)) return account;
  }
  return undefined;
};

/** Rotating a key twice would leave an extra live key. */
const assertNotRotated = (key: Account["keys"][number] | undefined): void => {
  if (key?.expires_at === undefined) return;
  throw new OperatorError(
    `${key.key_id} was rotated already and expires at ${key.expires_at}. ` +
      "See its replacement with keys list, create another key with keys create, or end this one with keys revoke",
  );
};

/** Revokes a key, even one that only the access table has: that table admits callers. Resolves with the account id. */
const revoke = async (context: AdminContext, keyId: string, why: string | undefined): Promise<string> => {
  const auditFields = { action: "keys revoke", why, details: { key_id: keyId } };
  const store = audited(context, () => auditFields);
  const listed = await findAccountOfKey(context, keyId);
  if (listed !== undefined) {
    await revokeKey(store, listed.account_id, keyId);
    return listed.account_id;
  }
  for await (const item of scanKeyItems(context.accounts)) {
    if (item.key_id !== keyId) continue;
    const account = await findAccount(context.accounts, item.account_id);
    if (account === undefined)
      await revokeOrphan(context.accounts, item, () => auditItem(context, SERVICE, auditFields));
    else await revokeUnlistedKey(store, item);
    return item.account_id;
  }
  throw noSuchKey(keyId);
};

const reconcile = async (
  context: AdminContext,
  { dryRun, why }: { readonly dryRun: boolean; readonly why?: string | undefined },
): Promise<Report> => {
  const action = "keys reconcile";
  const findings = await reconcileKeys(
    audited(context, () => ({ action, why })),
    {
      isDryRun: dryRun,
      orphanAudit: ({ key_id, account_id }) =>
        auditItem(context, SERVICE, { action, why, details: { key_id, account_id } }),
    },
  );
  const rows = findings.map(({ account_id, key_id, found, result }) => [account_id, key_id, found, result]);
  return {
    json: { dry_run: dryRun, findings },
    text:
      findings.length === 0
        ? "The ledger and the access table agree."
        : table(["account", "key", "found", dryRun ? "will be" : "is now"], rows),
  };
};

const find = async (context: AdminContext): Promise<Report> => {
  const text = await readStdin("Key");
  if (!isWellFormedKey(text))
    throw new OperatorError("This is not a key of this service: its format or checksum is wrong");
  const item = await findKey(context.accounts.db, context.accounts.accessTable, hashApiKey(text));
  if (item === undefined) throw new OperatorError("No account has this key");
  const { account_id, key_id, status } = item;
  const { name } = await requireAccount(context.accounts, account_id);
  const json = { account_id, name, key_id, status };
  return { json, text: fields(json) };
};
