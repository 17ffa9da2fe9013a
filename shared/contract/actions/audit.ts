import * as z from "#zod";
import { readRoles } from "../roles.ts";
import { transactionQuery } from "../transaction-query.ts";
import {
  type ActionTable,
  accountField,
  accountInput,
  nextCursor,
  printableText,
  referenceInput,
  serviceRead,
} from "./action.ts";

/** What an entry is about, as people choose it in a filter. */
export const auditKinds = {
  money: "Money",
  orders: "Orders and checks",
  accounts: "Accounts and people",
  keys: "Keys and addresses",
  webhooks: "Webhooks",
  service: "The service",
  seen: "Personal data seen",
} as const;
export const auditKindSchema = z.enum(["money", "orders", "accounts", "keys", "webhooks", "service", "seen"]);
export type AuditKind = z.output<typeof auditKindSchema>;

/** A change, or a read of personal data, and who made it. */
const auditView = z.object({
  at: z.iso.datetime(),
  by: z.string(),
  /** The operator's identity at AWS. Null if there is none, or if an owner asks. */
  caller_arn: z.nullable(z.string()),
  /** Who did it in the console, as the identity provider names the person. */
  person: z.optional(z.object({ issuer: z.string(), sub: z.string() })),
  /** Where the request came from. Null if that is not known, or if an owner asks. */
  source_ip: z.nullable(z.string()),
  /** What the browser or command called itself. Null if that is not known, or if an owner asks. */
  user_agent: z.nullable(z.string()),
  action: z.string(),
  kind: auditKindSchema,
  /** What was done: `ada@example.com funded the wallet of shop with NGN 50,000.00 (bank reference GTB-2291)`. */
  sentence: z.string(),
  why: z.nullable(z.string()),
  details: z.record(z.string(), z.union([z.string(), z.number()])),
});

const filters = {
  /** The whole name or identity at AWS, or the part of either before the `@` and after the last `/`; in any case. */
  person: z.optional(printableText.check(z.maxLength(200))),
  kind: z.optional(auditKindSchema),
  ...z.pick(transactionQuery, { from: true, to: true }).shape,
};
const pageInput = z.object({ ...filters, cursor: z.optional(z.string().check(z.maxLength(400))) });
/** A page may have few entries, or none, although `next_cursor` is set: filters are applied after it is read. */
const auditPage = <Entry extends z.ZodMiniType>(entry: Entry) =>
  z.object({
    entries: z.array(entry),
    next_cursor: nextCursor,
  });

/** The audit log, newest first. */
export const auditActions = {
  "audit account": {
    scope: "account",
    roles: readRoles,
    kind: "read",
    input: z.extend(accountInput, pageInput.shape),
    output: auditPage(auditView),
    summary: "Show who changed an account, and why",
    command: "none",
  },
  "audit list": {
    ...serviceRead,
    /** `account`: entries of its log alone, or with `service` of what concerns no account. */
    input: z.extend(pageInput, { account: z.optional(accountField) }),
    /** An entry is in the list some moments after it was written, unless the list is of one log. */
    output: auditPage(
      /** `account_id` is null of what concerns no account. */
      z.extend(auditView, { account_id: z.nullable(z.string()) }),
    ),
    summary: "Show who changed any account or the service itself, and why",
    command: "none",
  },
  "audit about": {
    ...serviceRead,
    /** A transaction by any of its references, or an event by its id. The caller's own reference needs the account. */
    input: z.object({ subject: referenceInput, account: z.optional(accountField) }),
    /** Oldest first. */
    output: z.object({ entries: z.array(auditView) }),
    summary: "Show who changed a transaction or an event, and why",
    command: "none",
  },
} as const satisfies ActionTable;
