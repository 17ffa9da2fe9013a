import type { Command } from "commander";
import * as z from "zod";
import { type Account, accountIds, findAccount, requireAccount } from "../../../shared/access/account-store.ts";
import {
  createKey,
  defaultPermissions,
  type NewKey,
  revokeKey,
  revokeUnlistedKey,
  rotateKey,
} from "../../../shared/access/accounts.ts";
import { isWellFormedKey, keyHash } from "../../../shared/access/api-key.ts";
import { findKey } from "../../../shared/access/key-store.ts";
import { reconcileKeys, revokeOrphan, scanKeyItems } from "../../../shared/access/reconcile-keys.ts";
import { modeSchema } from "../../../shared/contract/transaction.ts";
import { SERVICE } from "../../../shared/ledger/audit.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { addCommand, addGroup, type Report, why } from "../command.ts";
import { type AdminContext, audited, auditItem } from "../context.ts";
import { accountField, durationField, permissionsField, whyField } from "../fields.ts";
import { readStdin } from "../stdin.ts";
import { fields, table } from "../views/print.ts";

const keyField = z
  .string()
  .refine((text) => !isWellFormedKey(text), "Must be a key's id: keys find tells it, and takes the key from its input")
  .regex(/^key_[0-9a-f]+$/, "Must be a key's id such as key_0123456789abcdef01");

export const addKeys = (program: Command): void => {
  const group = addGroup(program, "keys", "API keys; a key is shown once, when it is made");
  addCommand(group, {
    usage: "create <account>",
    summary: "make a key",
    example: "create acc_0123456789abcdef01 --mode live --permissions vtu,identity",
    options: [
      { flags: "--mode <mode>", text: "live, or test for the sandbox", required: true },
      {
        flags: "--permissions <list>",
        text: "some of vtu, identity, identity:retrieve",
        fallback: defaultPermissions.join(),
      },
      why,
    ],
    input: z.object({
      account: accountField,
      mode: z.enum(modeSchema.options, "Must be live or test"),
      permissions: permissionsField,
      why: whyField.optional(),
    }),
    run: async (context, { account, mode, permissions, why }) => {
      const store = audited(context, ({ keys }) => ({
        action: "keys create",
        why,
        details: { key_id: keys.at(-1)?.key_id ?? "", mode, permissions: permissions.join() },
      }));
      return shownOnce(account, await createKey(store, account, { mode, permissions }), { mode, permissions });
    },
  });
  addCommand(group, {
    usage: "list <account>",
    readOnly: true,
    summary: "an account's keys, without the keys themselves",
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
    summary: "make a key in another's place, which stops by itself once the overlap is over",
    example: "rotate key_0123456789abcdef01 --overlap 24h",
    options: [
      { flags: "--overlap <time>", text: "how long the old key goes on: 0, 30m, 24h, 7d", fallback: "24h" },
      why,
    ],
    input: z.object({ key: keyField, overlap: durationField, why: whyField.optional() }),
    run: async (context, { key, overlap, why }) => {
      const { account_id, keys } = await ownerOf(context, key);
      assertNotRotated(keys.find(({ key_id }) => key_id === key));
      const store = audited(context, ({ keys }) => ({
        action: "keys rotate",
        why,
        details: { key_id: keys.at(-1)?.key_id ?? "", instead_of: key },
      }));
      const { expiresAt, ...made } = await rotateKey(store, account_id, key, overlap);
      return shownOnce(account_id, made, { instead_of: key, which_ends_at: expiresAt });
    },
  });
  addCommand(group, {
    usage: "revoke <key>",
    summary: "refuse a key from the next request on (401)",
    example: 'revoke key_0123456789abcdef01 --why "leaked"',
    options: [why],
    input: z.object({ key: keyField, why: whyField.optional() }),
    run: async (context, { key, why }) => {
      const accountId = await revoke(context, key, why);
      const json = { account_id: accountId, key_id: key, status: "revoked" };
      return { json, text: fields(json) };
    },
  });
  addCommand(group, {
    usage: "reconcile",
    summary:
      "make the ledger's accounts and the access table agree, the more restrictive of the two standing; " +
      "after either of them was restored",
    example: "reconcile --dry-run",
    options: [{ flags: "--dry-run", text: "say what is found and change nothing" }, why],
    input: z.object({ dryRun: z.boolean().default(false), why: whyField.optional() }),
    run: reconcile,
  });
  addCommand(group, {
    usage: "find",
    readOnly: true,
    summary: "whose key this is; the key is read from standard input",
    example: "find < leaked-key.txt",
    input: z.object({}),
    run: find,
  });
};

const shownOnce = (
  accountId: string,
  { key, keyId }: NewKey,
  more: Readonly<Record<string, string | readonly string[]>>,
): Report => {
  const json = { account_id: accountId, key_id: keyId, key, ...more };
  const lines = Object.entries(json).map(([name, value]) => [name, Array.isArray(value) ? value.join() : value]);
  return { json, text: `${fields(Object.fromEntries(lines))}\n\nThe key is not shown again.` };
};

type Key = Account["keys"][number];

export const keyView = ({ hash: _hash, ...key }: Key, nowMs: number) => ({
  ...key,
  status: key.status === "active" && key.expires_at && nowMs >= Date.parse(key.expires_at) ? "ended" : key.status,
});

export const keysTable = (keys: readonly ReturnType<typeof keyView>[]): string =>
  table(
    ["key", "mode", "status", "permissions", "created", "ends"],
    keys.map((key) => [key.key_id, key.mode, key.status, key.permissions.join(), key.created_at, key.expires_at]),
  );

const ownerOf = async (context: AdminContext, keyId: string): Promise<Account> => {
  const account = await findOwner(context, keyId);
  if (account === undefined) throw new OperatorError(`There is no key ${keyId}`);
  return account;
};

const findOwner = async (context: AdminContext, keyId: string): Promise<Account | undefined> => {
  for await (const accountId of accountIds(context.accounts)) {
    const account = await findAccount(context.accounts, accountId);
    if (account?.keys.some(({ key_id }) => key_id === keyId)) return account;
  }
  return undefined;
};

/** A repeat would make another live key, which nobody asked for. */
const assertNotRotated = (key: Key | undefined): void => {
  if (key?.expires_at === undefined) return;
  throw new OperatorError(
    `${key.key_id} was rotated already, and ends at ${key.expires_at}: keys list shows the key in its place, ` +
      "keys create makes another one, and keys revoke ends one at once",
  );
};

/** A key that no account lists is looked for in the access table, which decides who is admitted. Resolves with its account. */
const revoke = async (context: AdminContext, keyId: string, why: string | undefined): Promise<string> => {
  const auditFields = { action: "keys revoke", why, details: { key_id: keyId } };
  const store = audited(context, () => auditFields);
  const owner = await findOwner(context, keyId);
  if (owner !== undefined) {
    await revokeKey(store, owner.account_id, keyId);
    return owner.account_id;
  }
  for await (const row of scanKeyItems(context.accounts)) {
    if (row.key_id !== keyId) continue;
    const account = await findAccount(context.accounts, row.account_id);
    if (account === undefined)
      await revokeOrphan(context.accounts, row, () => auditItem(context, SERVICE, auditFields));
    else await revokeUnlistedKey(store, row);
    return row.account_id;
  }
  throw new OperatorError(`There is no key ${keyId}`);
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
        ? "The tables agree."
        : table(["account", "key", "found", dryRun ? "would be" : "is now"], rows),
  };
};

const find = async (context: AdminContext): Promise<Report> => {
  const text = await readStdin("Key");
  if (!isWellFormedKey(text))
    throw new OperatorError("That is no key of this service: its form or its checksum is wrong");
  const row = await findKey(context.accounts.db, context.accounts.accessTable, keyHash(text));
  if (row === undefined) throw new OperatorError("Nobody has this key");
  const { account_id, key_id } = row;
  const { name } = await requireAccount(context.accounts, account_id);
  const json = { account_id, name, key_id, status: row.status };
  return { json, text: fields(json) };
};
