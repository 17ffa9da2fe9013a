import * as z from "#zod";
import { type ActionTable, changeInput, serviceChange } from "./action.ts";

/**
 * What the audit log has of changes of secrets. The commands then make them with the operator's own permissions: no
 * function may change a secret.
 */
const changed = {
  ...serviceChange,
  input: z.extend(changeInput, { name: z.string().check(z.regex(/^[a-z-]{1,40}$/, "Must be a secret's name")) }),
  output: z.object({}),
  command: "by hand",
} as const;

export const secretsActions = {
  "secrets set": { ...changed, summary: "Record that a secret is set" },
  "secrets rotate": { ...changed, irreversible: true, summary: "Record that a secret is rotated" },
} as const satisfies ActionTable;
