import type { Command } from "commander";
import * as z from "#zod";
import { findAccount, requireAccount } from "../../../shared/access/account-store.ts";
import { hashApiKey, hasKeyForm } from "../../../shared/access/api-key.ts";
import { findKey } from "../../../shared/access/key-store.ts";
import { revokeUnlistedKey } from "../../../shared/access/keys.ts";
import { audited, auditItem } from "../../../shared/actions/action-context.ts";
import { noSuchKey } from "../../../shared/actions/keys.ts";
import { whySchema } from "../../../shared/contract/actions/action.ts";
import { keyId, keysActions } from "../../../shared/contract/actions/keys.ts";
import { SERVICE } from "../../../shared/ledger/audit.ts";
import { NotFoundError, OperatorError } from "../../../shared/platform/operator-error.ts";
import { actionChanges } from "../changes.ts";
import { addCommand, type Report, why } from "../command.ts";
import { type AdminContext, requireDirect } from "../context.ts";
import { perform } from "../perform.ts";
import { reconcileKeys, revokeOrphan, scanKeyItems, type UnreadableKeyItem } from "../reconcile-keys.ts";
import { readStdin } from "../stdin.ts";
import { fields, table } from "../views/print.ts";

export const addCommands = (group: Command): void => {
  addCommand(group, {
    usage: "revoke <key>",
    summary: keysActions["keys revoke"].summary,
    example: 'revoke key_0123456789abcdef01 --why "leaked"',
    options: [why],
    input: z.object({ key: keyId, why: z.optional(whySchema) }),
    asks: true,
    changes: actionChanges["keys revoke"],
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
    input: z.object({ dryRun: z._default(z.boolean(), false), why: z.optional(whySchema) }),
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

/** Revokes a key, even one that only the access table has: that table admits callers. Resolves with the account id. */
const revoke = async (context: AdminContext, keyId: string, why: string | undefined): Promise<string> => {
  try {
    return (await perform(context, "keys revoke", { key: keyId, why })).account_id;
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
  const auditFields = { action: "keys revoke", why, details: { key_id: keyId } };
  const store = audited(context, () => auditFields);
  const onUnreadable = ({ key_id }: UnreadableKeyItem): void => {
    if (key_id === keyId)
      throw new OperatorError(`The item of ${keyId} cannot be read: no request with it is admitted`);
  };
  for await (const item of scanKeyItems(context.accounts, onUnreadable)) {
    if (item.key_id !== keyId) continue;
    requireDirect(context, "revoke a key that its account does not list");
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
  if (!dryRun) requireDirect(context, "change accounts and keys without the service");
  const findings = await reconcileKeys(
    { ...audited(context, () => ({ action, why })), db: context.accounts.db },
    {
      isDryRun: dryRun,
      orphanAudit: ({ key_id, account_id }) =>
        auditItem(context, SERVICE, { action, why, details: { key_id, account_id } }),
    },
  );
  const rows = findings.map(({ account_id, key_id, found, result }) => [account_id, key_id, found, result]);
  return {
    ok: findings.every(({ found }) => found !== "unreadable"),
    json: { dry_run: dryRun, findings },
    text:
      findings.length === 0
        ? "The ledger and the access table agree."
        : table(["account", "key", "found", dryRun ? "will be" : "is now"], rows),
  };
};

const find = async (context: AdminContext): Promise<Report> => {
  const text = await readStdin("Key");
  if (!hasKeyForm(text)) throw new OperatorError("This is not a key of this service: its format is wrong");
  const item = await findKey(context.accounts.db, context.accounts.accessTable, hashApiKey(text));
  if (item === undefined) throw new OperatorError("No account has this key");
  const { account_id, key_id, status } = item;
  const { name } = await requireAccount(context.accounts, account_id);
  const json = { account_id, name, key_id, status };
  return { json, text: fields(json) };
};
