import { createHash } from "node:crypto";
import * as z from "#zod";
import { type Role, roles } from "../contract/roles.ts";
import { MINUTE_MS } from "../contract/values/durations.ts";
import type { Actor } from "../ledger/audit.ts";
import { getItem, getItems } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { ALL_TIMES, listKeys } from "../ledger/query-index.ts";
import { PEOPLE_LIST, personPk } from "../ledger/schema.ts";
import { setParts, updateOf } from "../ledger/update-parts.ts";
import { unlessRefused } from "../platform/aws/errors.ts";
import { isoTime } from "../platform/time.ts";

/** A person who has signed in and may do something, in the ledger table. */
export const personItemSchema = z.object({
  pk: z.string(),
  /** As audit entries name the person. */
  by: z.string(),
  /** What the person was at the last sign-in; none: an owner. */
  roles: z.array(z.enum(roles)),
  /** At the last sign-in: the keys of the items (owner-item.ts) by which the person owned accounts. */
  owner_keys: z.array(z.string()),
  /** The address that the provider had verified at the last sign-in. */
  email: z.nullable(z.string()),
  list_key: z.literal(PEOPLE_LIST),
  /** The first sign-in since the service keeps them. */
  created_at: z.iso.datetime(),
  last_seen_at: z.iso.datetime(),
});
export type PersonItem = z.output<typeof personItemSchema>;

/** A page that is opened again soon after is the same sign-in. */
const SAME_SIGN_IN_MS = 15 * MINUTE_MS;

/** What names a person at the identity provider. */
export const identityOfPerson = ({ issuer, sub }: NonNullable<Actor["person"]>): string =>
  JSON.stringify([issuer, sub]);

/** A hash of how the provider names the person. */
export const personIdOfIdentity = (identity: string): string =>
  createHash("sha256").update(identity).digest("base64url");

const pkOfPerson = (identity: string): string => personPk(personIdOfIdentity(identity));

/** Whether the person has signed in at the console, with a role or as an owner. */
export const hasSignedIn = async (ledger: Ledger, person: NonNullable<Actor["person"]>): Promise<boolean> =>
  (await getItem(ledger, pkOfPerson(identityOfPerson(person)), personItemSchema)) !== undefined;

/**
 * Records a sign-in. `identity` names the person at the provider, who cannot change it. A person who may do nothing is
 * recorded only if known already, as one who lost their access.
 */
export const recordSignIn = async (
  { db, table, clock }: Ledger,
  person: Pick<PersonItem, "by"> & {
    readonly identity: string;
    readonly roles: readonly Role[];
    readonly ownerKeys: readonly string[];
    readonly email: string | undefined;
  },
): Promise<void> => {
  const nowMs = clock();
  const mayDoSomething = person.roles.length > 0 || person.ownerKeys.length > 0;
  const isOther = "#last_seen_at < :before OR #roles <> :roles OR #owner_keys <> :owner_keys OR #email <> :email";
  const values = {
    ...{ by: person.by, roles: person.roles, owner_keys: person.ownerKeys, email: person.email ?? null },
    ...{ list_key: PEOPLE_LIST, last_seen_at: isoTime(nowMs) },
  };
  const update = updateOf(setParts(values), {
    sets: ["created_at = if_not_exists(created_at, :last_seen_at)"],
    conditions: [
      mayDoSomething
        ? `attribute_not_exists(#last_seen_at) OR ${isOther}`
        : `attribute_exists(#last_seen_at) AND (${isOther})`,
    ],
    values: { ":before": isoTime(nowMs - SAME_SIGN_IN_MS) },
  });
  await unlessRefused(db.update({ TableName: table, Key: { pk: pkOfPerson(person.identity) }, ...update }));
};

/** Everybody who has signed in, the first one first. */
export const listPeople = async (ledger: Ledger): Promise<readonly PersonItem[]> => {
  const keys = await listKeys(ledger, PEOPLE_LIST, ALL_TIMES);
  return getItems(ledger, keys, personItemSchema);
};
