import * as z from "#zod";
import { consentMethod } from "../identity.ts";
import { readRoles } from "../roles.ts";
import { modeSchema, transactionType } from "../transaction.ts";
import { transactionQuery } from "../transaction-query.ts";
import { type ActionTable, accountInput, itemInput, nextCursor, referenceInput } from "./action.ts";

export const consentView = z.object({
  reference: z.string(),
  account_id: z.string(),
  key_id: z.string(),
  mode: modeSchema,
  operation: transactionType,
  extent: z.enum(["basic", "advanced", "retrieval"]),
  purpose: z.nullable(z.string()),
  /** How the person consented, as the caller said; null if it did not. */
  evidence: z.nullable(
    z.object({
      method: consentMethod,
      id: z.string(),
      obtained_at: z.iso.datetime(),
      text_version: z.optional(z.string()),
    }),
  ),
  created_at: z.iso.datetime(),
  request_id: z.string(),
});

const period = z.pick(transactionQuery, { from: true, to: true }).shape;

/** Consent records of identity checks: who made a check, when and for what purpose; never whom it was about. */
export const consentsActions = {
  "consents list": {
    scope: "account",
    roles: readRoles,
    kind: "read",
    personal: true,
    input: z.extend(accountInput, {
      ...period,
      mode: z._default(modeSchema, "live"),
      cursor: transactionQuery.shape.cursor,
    }),
    /** A page may be empty although `next_cursor` is set: purchases have no consent. */
    output: z.object({ consents: z.array(consentView), next_cursor: nextCursor }),
    summary: "List the consents of an account's identity checks, newest first",
    command: "none",
  },
  "consents show": {
    scope: "account",
    roles: readRoles,
    kind: "read",
    personal: true,
    input: z.extend(itemInput, { reference: referenceInput }),
    output: consentView,
    summary: "Show who made an identity check, when and for what purpose; never whom it was about",
    command: {
      takes: { reference: "<reference>", account: "--account <account>" },
      example: "VERIFY_7Z9K3QX1V5B8M2N4C6D0F1G3HJ",
    },
  },
  "consents export": {
    scope: "account",
    roles: ["operator", "auditor"],
    kind: "read",
    audited: true,
    input: z.extend(accountInput, { ...period, cursor: z.optional(z.string().check(z.maxLength(1_000))) }),
    output: z.object({
      /** Lines of the file, which pages continue. The last page ends with the footer. */
      lines: z.array(z.string()),
      next_cursor: nextCursor,
    }),
    summary: "Export the consents of live identity checks as JSON Lines, each with the hash of the line before",
    command: "by hand",
  },
} as const satisfies ActionTable;
