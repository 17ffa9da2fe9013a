import { randomBytes } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { retryContention } from "../platform/backoff.ts";
import { isoTime } from "../platform/time.ts";
import { readItems } from "./batch-read.ts";
import { ALL_TIMES, ownedKeys } from "./owner-index.ts";
import type { Ledger } from "./transact.ts";

/**
 * One act of an operator's: who changed what, and why. It is put in the change's own transaction where the ledger is what changes,
 * and before it where something else is. `owner` lists the acts on one subject by time.
 */
const auditEntrySchema = z.object({
  pk: z.string(),
  owner: z.string(),
  /** An account's id, the key of a transaction's or an event's item, or `SERVICE`. */
  subject: z.string(),
  /** The name that the operator gave. */
  by: z.string(),
  /** On AWS, the identity that AWS STS gave for the operator's credentials. */
  caller_arn: z.string().optional(),
  action: z.string(),
  why: z.string().optional(),
  details: z.record(z.string(), z.union([z.string(), z.number()])),
  created_at: z.iso.datetime(),
});
export type AuditEntry = z.infer<typeof auditEntrySchema>;

/** The subject of acts that concern no account and no transaction. */
export const SERVICE = "service";

/** Who acts. */
export type Actor = Pick<AuditEntry, "by" | "caller_arn">;

/** An act as its operator states it. */
export type AuditedAction = Actor &
  Pick<AuditEntry, "subject" | "action"> & {
    readonly why?: string;
    readonly details?: AuditEntry["details"];
  };

const auditOwner = (subject: string): string => `audit#${subject}`;

export const auditEntry = (
  { subject, by, caller_arn, action, why, details = {} }: AuditedAction,
  nowMs: number,
): AuditEntry => ({
  pk: `audit#${isoTime(nowMs)}#${randomBytes(9).toString("base64url")}`,
  owner: auditOwner(subject),
  subject,
  by,
  ...(caller_arn !== undefined && { caller_arn }),
  action,
  ...(why !== undefined && { why }),
  details,
  created_at: isoTime(nowMs),
});

/** The act as one part of a transaction. */
export const auditPut = (table: string, Item: AuditEntry) => ({
  Put: { TableName: table, Item, ConditionExpression: "attribute_not_exists(pk)" },
});

/** The act by itself, before a change outside the ledger: one on record that then failed is better than one that is not on record. */
export const recordAudit = async ({ db, table, clock }: Ledger, act: AuditedAction): Promise<void> => {
  const put = new PutCommand({ TableName: table, Item: auditEntry(act, clock()) });
  await retryContention(() => db.send(put));
};

/** What was done to one subject, oldest first. */
export const readAudit = async (ledger: Ledger, subject: string): Promise<readonly AuditEntry[]> =>
  readItems(ledger, await ownedKeys(ledger, auditOwner(subject), ALL_TIMES), auditEntrySchema);
