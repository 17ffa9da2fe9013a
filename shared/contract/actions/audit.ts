import * as z from "zod";
import { type ActionTable, accountField, accountInput, referenceInput } from "./action.ts";

/** A change, or a read of personal data, and who made it. */
const auditView = z.object({
  at: z.iso.datetime(),
  by: z.string(),
  /** The operator's identity at AWS. Null if there is none, or if an owner asks. */
  caller_arn: z.string().nullable(),
  /** Who did it in the console, as the identity provider names the person. */
  person: z.object({ issuer: z.string(), sub: z.string() }).optional(),
  /** Where the request came from. Null if that is not known, or if an owner asks. */
  source_ip: z.string().nullable(),
  action: z.string(),
  why: z.string().nullable(),
  details: z.record(z.string(), z.union([z.string(), z.number()])),
});

const pageInput = z.object({ cursor: z.string().max(400).optional() });
const auditPage = z.object({
  entries: z.array(auditView),
  /** The `cursor` of the next page; null on the last. */
  next_cursor: z.string().nullable(),
});

/** The audit log, newest first. */
export const auditActions = {
  "audit account": {
    scope: "account",
    kind: "read",
    input: accountInput.extend(pageInput.shape),
    output: auditPage,
    summary: "Show who changed an account, and why",
    command: "none",
  },
  "audit service": {
    scope: "service",
    kind: "read",
    input: pageInput,
    output: auditPage,
    summary: "Show who changed the service itself, and why",
    command: "none",
  },
  "audit about": {
    scope: "service",
    kind: "read",
    /** A transaction by any of its references, or an event by its id. The caller's own reference needs the account. */
    input: z.object({ subject: referenceInput, account: accountField.optional() }),
    /** Oldest first. */
    output: z.object({ entries: z.array(auditView) }),
    summary: "Show who changed a transaction or an event, and why",
    command: "none",
  },
} as const satisfies ActionTable;
