import * as z from "#zod";
import { permissionSchema } from "../permission.ts";
import { roles } from "../roles.ts";
import { modeSchema } from "../transaction.ts";
import { type ActionTable, serviceRead } from "./action.ts";
import { keyId } from "./keys.ts";

const personAccess = z.object({
  /** As audit entries name the person; `group:checkout-team` for the members of a group that owns accounts. */
  name: z.string(),
  /** At the last sign-in. */
  roles: z.array(z.enum(roles)),
  /** Whether an account names the person now, or what made the person an owner at the last sign-in: the address or a group. */
  is_owner: z.boolean(),
  /** The accounts whose owners name the person's address, or the group. */
  accounts: z.array(z.object({ account_id: z.string(), name: z.string() })),
  /** Null: never. Of a group: not known. */
  first_signed_in_at: z.nullable(z.iso.datetime()),
  last_signed_in_at: z.nullable(z.iso.datetime()),
});

/**
 * Who may use and manage accounts. Operators and readers are groups at the identity provider, which has their members: here
 * are those who signed in.
 */
export const accessActions = {
  "access people": {
    ...serviceRead,
    input: z.object({}),
    output: z.object({
      /** Those who signed in, the latest first; then owners who never did. */
      people: z.array(personAccess),
    }),
    summary: "List who has signed in to the console, as what, and since when; and owners who never did",
    command: {
      table: {
        rows: "people",
        columns: ["name", "roles", "first_signed_in_at: first", "last_signed_in_at: last"],
      },
    },
  },
  "access review": {
    ...serviceRead,
    input: z.object({
      /** This key alone, without owners and people: for `keys revoke`, because an answer has 6 MB at most. */
      key: z.optional(keyId),
    }),
    output: z.object({
      /** Each owner, and each key that is neither revoked nor ended, by account. */
      access: z.array(
        z.object({
          account_id: z.string(),
          account: z.string(),
          kind: z.enum(["key", "owner"]),
          /** A key's id; an owner as `email:ada@example.com` or `group:checkout-team`. */
          holder: z.string(),
          /** The key's. Null of owners. */
          name: z.nullable(z.string()),
          /** Null: an owner has both. */
          mode: z.nullable(modeSchema),
          /** What a key may do of what its account is entitled to. Empty: nothing, or an owner, who manages the account. */
          may: z.array(permissionSchema),
          /** A restricted account's keys are refused. */
          is_restricted: z.boolean(),
          /** Null of owners: the account's audit log has it. */
          created_at: z.nullable(z.iso.datetime()),
          /** As in `keys list`. Null of owners too: the log has the requests of people. */
          last_used_at: z.nullable(z.iso.datetime()),
        }),
      ),
      /** As `access people` lists them. */
      people: z.array(personAccess),
    }),
    summary: "List keys, owners and people: what each may do, when a key was last used and a person last signed in",
    command: {},
  },
} as const satisfies ActionTable;
