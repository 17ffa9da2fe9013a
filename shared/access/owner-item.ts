import { createHash } from "node:crypto";
import * as z from "#zod";
import { replaceableObject } from "../contract/lazy-object.ts";
import type { Writes } from "../ledger/ledger.ts";
import { ownerPk } from "../ledger/schema.ts";

/** Who may manage an account in the console: the person with this verified e-mail address, or a group. */
export const ownerSchema = replaceableObject(() => ({ kind: z.enum(["email", "group"]), value: z.string() }));
export type Owner = z.infer<typeof ownerSchema>;

/**
 * An owner's item in the ledger table: the ids of their accounts. Each change of an account's owners writes it in its own
 * transaction. The account alone says who owns it: an id here is only where to look.
 */
export const ownerItemSchema = z.object({ pk: z.string(), accounts: z.optional(z.set(z.string())) });

/** E-mail addresses are compared in lower case, names of groups exactly. */
export const pkOfOwner = ({ kind, value }: Owner): string =>
  ownerPk(
    createHash("sha256")
      .update(`${kind}:${kind === "email" ? value.toLowerCase() : value}`)
      .digest("base64url"),
  );

/** Whether one of the owners is the person, by a verified address in lower case, or a group of theirs. */
export const owns = (
  { email, groups }: { readonly email?: string; readonly groups: readonly string[] },
  { owners }: { readonly owners: readonly Owner[] },
): boolean =>
  owners.some(({ kind, value }) => (kind === "email" ? value.toLowerCase() === email : groups.includes(value)));

type OwnedAccount = { readonly account_id: string; readonly owners: readonly Owner[] };

/** Adds the account to the items of its new owners, and removes it from those of owners that it no longer has. */
export const ownerWrites = (TableName: string, before: OwnedAccount, after: OwnedAccount): Writes => {
  const pksOf = ({ owners }: OwnedAccount): Set<string> => new Set(owners.map(pkOfOwner));
  const [old, current] = [pksOf(before), pksOf(after)];
  const update = (action: "ADD" | "DELETE", pk: string): Writes[number] => ({
    Update: {
      TableName,
      Key: { pk },
      UpdateExpression: `${action} accounts :account`,
      ExpressionAttributeValues: { ":account": new Set([after.account_id]) },
    },
  });
  return [
    ...[...current].filter((pk) => !old.has(pk)).map((pk) => update("ADD", pk)),
    ...[...old].filter((pk) => !current.has(pk)).map((pk) => update("DELETE", pk)),
  ];
};
