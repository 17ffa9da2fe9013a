import * as z from "#zod";
import { type Account, accountSchema } from "../access/account-store.ts";
import { findKeys, lastUsedMs } from "../access/key-store.ts";
import { pkOfOwner } from "../access/owner-item.ts";
import { listPeople, type PersonItem } from "../access/person-item.ts";
import type { accessActions } from "../contract/actions/access.ts";
import { allows } from "../contract/permission.ts";
import { accountIdsOf } from "../ledger/query-index.ts";
import { orNull } from "../platform/or-null.ts";
import { isoTime } from "../platform/time.ts";
import { keyView, ownerText, readAccounts } from "./accounts.ts";
import type { ActionContext } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";

type Owned = { readonly account_id: string; readonly name: string };

const ownedAccountSchema = z.pick(accountSchema, { pk: true, account_id: true, name: true, owners: true });
type OwnedAccount = z.infer<typeof ownedAccountSchema>;
const reviewedAccountSchema = z.pick(accountSchema, {
  ...{ pk: true, account_id: true, name: true, owners: true },
  ...{ status: true, entitlements: true, keys: true },
});

/** The accounts of each owner, by the address or the group as an owner is written. */
const ownedBy = (accounts: readonly OwnedAccount[]): ReadonlyMap<string, readonly Owned[]> => {
  const owned = new Map<string, readonly Owned[]>();
  for (const { account_id, name, owners } of accounts) {
    for (const owner of owners) {
      // An address is in the audit log as it is, so people are found by it.
      const key = owner.kind === "email" ? owner.value.toLowerCase() : ownerText(owner);
      owned.set(key, [...(owned.get(key) ?? []), { account_id, name }]);
    }
  }
  return owned;
};

/** Those who signed in, the latest first; then owners who never did. */
const peopleOf = (people: readonly PersonItem[], accounts: readonly OwnedAccount[]) => {
  const owned = ownedBy(accounts);
  const ownerKeys = new Set(accounts.flatMap(({ owners }) => owners.map(pkOfOwner)));
  const known = new Set(people.map(({ by }) => by));
  const signedIn = people
    .toSorted((one, other) => (one.last_seen_at < other.last_seen_at ? 1 : -1))
    .map(({ by, roles, owner_keys, created_at, last_seen_at }) => ({
      name: by,
      roles,
      is_owner: owned.has(by) || owner_keys.some((key) => ownerKeys.has(key)),
      accounts: [...(owned.get(by) ?? [])],
      first_signed_in_at: created_at,
      last_signed_in_at: last_seen_at,
    }));
  const never = [...owned]
    .filter(([name]) => !known.has(name))
    .map(([name, ownedAccounts]) => ({
      ...{ name, roles: [], is_owner: true, accounts: [...ownedAccounts] },
      ...{ first_signed_in_at: null, last_signed_in_at: null },
    }));
  return [...signedIn, ...never];
};

const readPeopleAndAccounts = <Read extends OwnedAccount>(
  context: Pick<ActionContext, "ledger">,
  schema: z.ZodMiniType<Read> & { readonly shape: object },
) =>
  Promise.all([
    listPeople(context.ledger),
    accountIdsOf(context.ledger).then((ids) => readAccounts(context, ids, schema)),
  ]);

export const accessRuns: ActionRuns<typeof accessActions> = {
  "access people": async (context) => ({
    people: peopleOf(...(await readPeopleAndAccounts(context, ownedAccountSchema))),
  }),

  "access review": async (context, { key: wanted }) => {
    const { accounts: stores, ledger } = context;
    const [people, accounts] = await readPeopleAndAccounts(context, reviewedAccountSchema);
    const usableOf = ({ keys }: Pick<Account, "keys">) =>
      keys.filter(
        (key) => (wanted === undefined || key.key_id === wanted) && keyView(key, ledger.clock()).status === "active",
      );
    const items = await findKeys(
      stores,
      accounts.flatMap(usableOf).map(({ hash }) => hash),
    );
    const lastUsed = new Map(items.map((item) => [item.pk, lastUsedMs(item)]));
    return {
      people: wanted === undefined ? peopleOf(people, accounts) : [],
      access: accounts.flatMap((reviewed) => {
        const { account_id, name: accountName, status, entitlements, owners } = reviewed;
        const account = { account_id, account: accountName, is_restricted: status !== "active" };
        return [
          ...usableOf(reviewed).map(({ key_id, name, mode, permissions, created_at, hash }) => {
            const usedMs = lastUsed.get(hash);
            const may = permissions.filter((each) => allows(entitlements, each));
            const last_used_at = orNull(usedMs, isoTime);
            return { ...account, kind: "key" as const, holder: key_id, name, mode, may, created_at, last_used_at };
          }),
          ...(wanted === undefined ? owners : []).map((owner) => {
            const unknown = { name: null, mode: null, may: [], created_at: null, last_used_at: null };
            return { ...account, kind: "owner" as const, holder: ownerText(owner), ...unknown };
          }),
        ];
      }),
    };
  },
};
