import { personItemSchema } from "../access/person-item.ts";
import { SIGN_IN_DAYS_MAX } from "../contract/notification-kinds.ts";
import type { Role } from "../contract/roles.ts";
import { DAY_MS } from "../contract/values/durations.ts";
import { getItemsByPk, type OnUnreadable } from "../ledger/get-item.ts";
import type { Table } from "../ledger/ledger.ts";
import { personIdOf, personPk } from "../ledger/schema.ts";
import { isoTime } from "../platform/time.ts";
import type { Recipient } from "./recipient.ts";

/** A recipient with what the person might see at the last sign-in. */
export type RecipientAccess = {
  readonly recipient: Recipient;
  readonly roles: readonly Role[];
  readonly ownerKeys: readonly string[];
  /** Where e-mails go: the address that the provider had verified. */
  readonly email: string | null;
  /** When messages end. */
  readonly until: string;
};

/** In the order of the recipients, without those who never signed in. */
export const readRecipientAccess = async (
  table: Table,
  recipients: readonly Recipient[],
  onUnreadable?: OnUnreadable,
): Promise<readonly RecipientAccess[]> => {
  const pkOf = (recipient: Recipient): string => personPk(personIdOf(recipient));
  const people = await getItemsByPk(table, recipients.map(pkOf), personItemSchema, onUnreadable);
  return recipients.flatMap((recipient) => {
    const person = people.get(pkOf(recipient));
    if (person === undefined) return [];
    const { roles, owner_keys, email, last_seen_at } = person;
    const until = isoTime(Date.parse(last_seen_at) + SIGN_IN_DAYS_MAX * DAY_MS);
    return [{ recipient, roles, ownerKeys: owner_keys, email, until }];
  });
};
