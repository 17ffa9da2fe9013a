import * as z from "#zod";
import { accountSchema, requireAccount } from "../access/account-store.ts";
import type { AccountKey } from "../access/key-item.ts";
import { findKeys, lastUsedMs } from "../access/key-store.ts";
import { createKey, revokeKey, rotateKey, setKeyLimits } from "../access/keys.ts";
import type { keysActions } from "../contract/actions/keys.ts";
import { orderLimitsText } from "../contract/order-limits.ts";
import type { Permission } from "../contract/permission.ts";
import { actorName } from "../ledger/audit.ts";
import { accountIdsOf } from "../ledger/query-index.ts";
import { keyUsagePk } from "../ledger/schema.ts";
import { hasPeriodLimit, readKeyUsages } from "../ledger/usage.ts";
import { NotAllowedError, NotFoundError, OperatorError } from "../platform/operator-error.ts";
import { orNull } from "../platform/or-null.ts";
import { isoTime } from "../platform/time.ts";
import { keyView, readAccounts, usageView } from "./accounts.ts";
import { type ActionContext, audited } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";

export const noSuchKey = (keyId: string): NotFoundError => new NotFoundError(`There is no key ${keyId}`);

const accountKeysSchema = z.pick(accountSchema, { pk: true, account_id: true, keys: true });

/**
 * The account's key; another account's does not exist for it. Without an account, which only people with a role may
 * leave out, the key of any.
 */
const requireKey = async (
  context: ActionContext,
  accountId: string | undefined,
  keyId: string,
): Promise<{ readonly account_id: string; readonly key: AccountKey }> => {
  const accounts =
    accountId === undefined
      ? await readAccounts(context, await accountIdsOf(context.ledger), accountKeysSchema)
      : [await requireAccount(context.accounts, accountId)];
  for (const { account_id, keys } of accounts) {
    const key = keys.find(({ key_id }) => key_id === keyId);
    if (key !== undefined) return { account_id, key };
  }
  throw noSuchKey(keyId);
};

/** Only an operator gives out keys that find people by their phone number. */
const assertMayGive = ({ capacity }: ActionContext, permissions: readonly Permission[]): void => {
  if (capacity === "operator" || !permissions.includes("identity:retrieve")) return;
  throw new NotAllowedError("Only an operator makes keys with the permission identity:retrieve", {
    field: "permissions",
  });
};

/** Rotating a key twice would leave an extra live key. */
const assertNotRotated = ({ key_id, expires_at }: AccountKey): void => {
  if (expires_at === undefined) return;
  throw new OperatorError(`${key_id} was rotated already and expires at ${expires_at}`, {
    command:
      "See its replacement with keys list, create another key with keys create, or end this one with keys revoke",
  });
};

/** A key in an audit entry. */
const namesOf = (key: AccountKey | undefined) => ({ key_id: key?.key_id ?? "", name: key?.name ?? "" });

export const keysRuns: ActionRuns<typeof keysActions> = {
  "keys list": async (context, { account }) => {
    const { accounts, ledger } = context;
    const { keys, entitlements } = await requireAccount(accounts, account);
    const items = await findKeys(
      accounts,
      keys.map(({ hash }) => hash),
    );
    const usages = await readKeyUsages(
      ledger,
      keys.filter(({ order_limits }) => hasPeriodLimit(order_limits)).map(({ key_id }) => key_id),
    );
    const usageOf = new Map(usages.map((usage) => [usage.pk, usage]));
    const lastUsed = new Map(items.map((item) => [item.pk, lastUsedMs(item)]));
    return {
      account_id: account,
      entitlements,
      keys: keys.map((key) => {
        const usedMs = lastUsed.get(key.hash);
        return {
          ...keyView(key, ledger.clock()),
          last_used_at: orNull(usedMs, isoTime),
          ...(hasPeriodLimit(key.order_limits) && { usage: usageView(context, usageOf.get(keyUsagePk(key.key_id))) }),
        };
      }),
    };
  },

  "keys create": async (context, { account, mode, permissions: named, name, why }) => {
    assertMayGive(context, named ?? []);
    const store = audited(context, ({ keys }) => {
      const created = keys.at(-1);
      const details = { ...namesOf(created), mode, permissions: created?.permissions.join() ?? "" };
      return { action: "keys create", why, details };
    });
    const by = actorName(context.actor());
    const created = await createKey(store, account, { mode, ...(named && { permissions: named }), name, by });
    return {
      account_id: account,
      key_id: created.keyId,
      key: created.key,
      name: created.name,
      mode,
      permissions: [...created.permissions],
    };
  },

  "keys rotate": async (context, { account, key: keyId, overlap_ms, why }) => {
    const { account_id, key: before } = await requireKey(context, account, keyId);
    assertMayGive(context, before.permissions);
    const store = audited(context, ({ keys }) => ({
      action: "keys rotate",
      why,
      details: { ...namesOf(keys.at(-1)), instead_of: keyId },
    }));
    const by = actorName(context.actor());
    const rotated = await rotateKey(store, account_id, keyId, overlap_ms, by, assertNotRotated);
    return {
      account_id,
      key_id: rotated.keyId,
      key: rotated.key,
      instead_of: keyId,
      which_ends_at: rotated.expiresAt,
    };
  },

  "keys limits": async (context, { account, key: keyId, limits, before, why }) => {
    const { account_id, key } = await requireKey(context, account, keyId);
    const details = { ...namesOf(key), limits: orderLimitsText(limits) };
    const store = audited(context, () => ({ action: "keys limits", why, details }));
    await setKeyLimits(store, account_id, keyId, limits, before);
    return { account_id, key_id: keyId, order_limits: limits };
  },

  "keys revoke": async (context, { account, key: keyId, why }) => {
    const { account_id, key } = await requireKey(context, account, keyId);
    const store = audited(context, () => ({ action: "keys revoke", why, details: namesOf(key) }));
    await revokeKey(store, account_id, keyId);
    return { account_id, key_id: keyId, status: "revoked" };
  },
};
