import * as z from "zod";
import { permissionSchema } from "../permission.ts";
import { modeSchema } from "../transaction.ts";
import { keyViewSchema } from "./accounts.ts";
import { type ActionTable, accountChangeInput, accountInput } from "./action.ts";

const keyId = z.string().regex(/^key_[0-9a-f]{1,60}$/, "Must be a key id such as key_0123456789abcdef01");

/** How long a replaced key may stay valid. */
const OVERLAP_MS_MAX = 30 * 86_400_000;

/** Shown once: the service keeps only the key's hash. */
const newKeyView = z.object({ account_id: z.string(), key_id: z.string(), key: z.string() });

/** An account's API keys. */
export const keysActions = {
  "keys list": {
    scope: "account",
    kind: "read",
    input: accountInput,
    output: z.object({
      account_id: z.string(),
      keys: z.array(
        keyViewSchema.extend({
          /** The minute of the newest request that had this key, also of one that was refused. Null: none so far. */
          last_used_at: z.iso.datetime().nullable(),
        }),
      ),
    }),
    summary: "List an account's keys by id",
  },
  "keys create": {
    scope: "account",
    kind: "change",
    input: accountChangeInput.extend({
      mode: modeSchema,
      permissions: z.array(permissionSchema).min(1, "Must have at least one permission").max(10),
    }),
    output: newKeyView.extend({ mode: modeSchema, permissions: z.array(permissionSchema) }),
    summary: "Create a key and show it once",
  },
  "keys rotate": {
    scope: "account",
    kind: "change",
    input: accountChangeInput.extend({ key: keyId, overlap_ms: z.int().min(0).max(OVERLAP_MS_MAX) }),
    output: newKeyView.extend({ instead_of: z.string(), which_ends_at: z.iso.datetime() }),
    summary: "Replace a key; the old one expires after the overlap",
  },
  "keys revoke": {
    scope: "account",
    kind: "change",
    irreversible: true,
    input: accountChangeInput.extend({ key: keyId }),
    output: z.object({ account_id: z.string(), key_id: z.string(), status: z.literal("revoked") }),
    summary: "Refuse a key from now on (401)",
  },
} as const satisfies ActionTable;
