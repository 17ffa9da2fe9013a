import { type Account, accountNotFound, accountSchema, findAccount } from "../access/account-store.ts";
import { ownerItemSchema, owns, pkOfOwner } from "../access/owner-item.ts";
import { type Action, itemInput } from "../contract/actions/action.ts";
import { type Capacity, type Role, roleGroups, roles } from "../contract/roles.ts";
import { getItems } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { accountPk } from "../ledger/schema.ts";
import { NotAllowedError } from "../platform/operator-error.ts";
import type { ConsoleSettings } from "./console-settings.ts";
import type { Person } from "./person.ts";

/** What decides which accounts a person owns. */
type Owner = Pick<Person, "email" | "groups">;

/** What a person is for the whole service, the widest role first. Group names are compared exactly. */
export const rolesOf = (
  { groups }: Owner,
  settings: Pick<ConsoleSettings, (typeof roleGroups)[Role]>,
): readonly Role[] =>
  roles.filter((role) => {
    const group = settings[roleGroups[role]];
    return group !== undefined && groups.includes(group);
  });

/** The accounts that a person owns, oldest first. Reads nothing of other accounts, however many there are. */
export const ownedAccounts = async (ledger: Ledger, person: Owner): Promise<readonly Account[]> => {
  const groups = person.groups.map((value) => ({ kind: "group" as const, value }));
  const email = person.email === undefined ? [] : [{ kind: "email" as const, value: person.email }];
  const items = await getItems(ledger, [...email, ...groups].map(pkOfOwner), ownerItemSchema);
  const ids = items.flatMap(({ accounts }) => [...(accounts ?? [])]);
  const accounts = await getItems(ledger, ids.map(accountPk), accountSchema);
  return accounts
    .filter((account) => owns(person, account))
    .toSorted((one, other) => one.created_at.localeCompare(other.created_at));
};

/**
 * As what the person may do the action, and on which account. The account is read strongly each time, so a removed
 * owner is refused at once. Another owner's account is answered like one that does not exist.
 */
export const authorise = async (
  ledger: Ledger,
  { person, roles: held }: { readonly person: Owner; readonly roles: readonly Role[] },
  { scope, roles: allowed }: Pick<Action, "scope" | "roles">,
  input: unknown,
): Promise<{ readonly capacity: Capacity; readonly account?: string }> => {
  const byRole = held.find((role) => allowed.includes(role));
  if (scope === "person") return { capacity: byRole ?? "person" };
  if (scope === "member") {
    if (byRole === undefined && (await ownedAccounts(ledger, person)).length === 0) throw new NotAllowedError(NO_ROLE);
    return { capacity: byRole ?? "person" };
  }
  const accountId = scope === "service" ? undefined : itemInput.parse(input).account;
  if (accountId === undefined) {
    if (byRole !== undefined) return { capacity: byRole };
    throw new NotAllowedError(held.length > 0 ? notOfRoles(held) : scope === "service" ? NO_SERVICE : NO_ACCOUNT);
  }
  const account = await findAccount({ db: ledger.db, ledgerTable: ledger.table }, accountId);
  if (byRole !== "operator" && account !== undefined && owns(person, account)) {
    return { capacity: "owner", account: accountId };
  }
  if (byRole !== undefined && account !== undefined) return { capacity: byRole, account: accountId };
  if (byRole === undefined && held.length > 0) throw new NotAllowedError(notOfRoles(held));
  if (byRole === undefined && (await ownedAccounts(ledger, person)).length === 0) throw new NotAllowedError(NO_ROLE);
  throw accountNotFound(accountId);
};

const notOfRoles = (held: readonly Role[]): string => `This is not allowed to the role ${held.join(" or ")}`;
const NO_SERVICE = "Only people with a role in the service may do this";
const NO_ACCOUNT = "Only people with a role in the service may leave out the account";
const NO_ROLE = "You have no role in the service, and own no account. Ask an operator";
