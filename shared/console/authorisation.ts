import { type Account, accountSchema, findAccount } from "../access/account-store.ts";
import { ownerItemSchema, pkOfOwner } from "../access/owner-item.ts";
import type { ConsoleRequest } from "../actions/action-context.ts";
import { type Action, itemInput } from "../contract/actions/action.ts";
import { getItems } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { accountPk } from "../ledger/schema.ts";
import { NotAllowedError, NotFoundError } from "../platform/operator-error.ts";
import type { ConsoleSettings } from "./console-settings.ts";
import type { Person } from "./person.ts";

/** What decides which accounts a person owns. */
type Owner = Pick<Person, "email" | "groups">;

/** What a person may do in the whole service; null: what the accounts that they own allow. */
export type Role = ConsoleRequest["role"];

/** As what a person does one action. */
type Capacity = "operator" | "reader" | "owner" | "person";

/** Group names are compared exactly. */
export const roleOf = (
  { groups }: Owner,
  { operatorGroup, readerGroup }: Pick<ConsoleSettings, "operatorGroup" | "readerGroup">,
): Role => {
  if (groups.includes(operatorGroup)) return "operator";
  return groups.includes(readerGroup) ? "reader" : null;
};

export const owns = ({ email, groups }: Owner, { owners }: Account): boolean =>
  owners.some(({ kind, value }) => (kind === "email" ? value.toLowerCase() === email : groups.includes(value)));

/** The accounts that a person owns, oldest first. Reads nothing of other accounts, however many there are. */
export const ownedAccounts = async (ledger: Ledger, person: Owner): Promise<readonly Account[]> => {
  const groups = person.groups.map((value) => ({ kind: "group" as const, value }));
  const email = person.email === undefined ? [] : [{ kind: "email" as const, value: person.email }];
  const keys = [...email, ...groups].map((owner) => ({ pk: pkOfOwner(owner) }));
  const items = await getItems(ledger, keys, ownerItemSchema);
  const ids = items.flatMap(({ accounts }) => [...(accounts ?? [])]);
  const accountKeys = ids.map((id) => ({ pk: accountPk(id) }));
  const accounts = await getItems(ledger, accountKeys, accountSchema);
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
  { person, role }: { readonly person: Owner; readonly role: Role },
  { scope, kind }: Pick<Action, "scope" | "kind">,
  input: unknown,
): Promise<{ readonly capacity: Capacity; readonly account?: string }> => {
  if (scope === "person") return { capacity: role ?? "person" };
  if (scope === "member") {
    if (role === null && (await ownedAccounts(ledger, person)).length === 0) throw new NotAllowedError(NO_ROLE);
    return { capacity: role ?? "person" };
  }
  const byRole = role === "operator" || (role === "reader" && kind === "read") ? role : undefined;
  if (scope === "service") {
    if (byRole === undefined) throw new NotAllowedError(role === "reader" ? READERS : NO_SERVICE);
    return { capacity: byRole };
  }
  const { account: accountId } = itemInput.parse(input);
  if (accountId === undefined) {
    if (byRole === undefined) throw new NotAllowedError(role === "reader" ? READERS : NO_ACCOUNT);
    return { capacity: byRole };
  }
  const account = await findAccount({ db: ledger.db, ledgerTable: ledger.table }, accountId);
  if (role !== "operator" && account !== undefined && owns(person, account)) {
    return { capacity: "owner", account: accountId };
  }
  if (byRole !== undefined && account !== undefined) return { capacity: byRole, account: accountId };
  if (byRole === undefined && role === "reader") throw new NotAllowedError(READERS);
  if (byRole === undefined && (await ownedAccounts(ledger, person)).length === 0) throw new NotAllowedError(NO_ROLE);
  throw new NotFoundError(`There is no account ${accountId}`);
};

const READERS = "Readers cannot change anything";
const NO_SERVICE = "Only operators and readers may do this";
const NO_ACCOUNT = "Only operators and readers may leave out the account";
const NO_ROLE = "You are neither an operator, nor a reader, nor an owner of an account. Ask an operator";
