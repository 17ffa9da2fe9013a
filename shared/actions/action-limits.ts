import { createHash } from "node:crypto";
import * as z from "#zod";
import { ServiceError } from "../contract/errors.ts";
import type { Table } from "../ledger/ledger.ts";
import { cachePk } from "../platform/cache-keys.ts";
import { minuteOf, secondsToNextMinute } from "../platform/time.ts";

/** A person's searches in a minute: more than anybody types, and too few to try one number after the other. */
export const SEARCHES_PER_MINUTE = 30;
/** Of an account: each puts up to 10,000 webhooks into the queue, and reads their deliveries, at the company's cost. */
export const RESENDS_PER_MINUTE = 5;
const KEPT_S = 3_600;

const counted = z.int();

/** Counts an action; resolves with how many there were of its kind and subject in the minute. */
const count = async (
  { db, table }: Table,
  kind: "searches" | "resends",
  subject: string,
  nowMs: number,
): Promise<number> => {
  const hash = createHash("sha256").update(subject).digest("base64url");
  const { Attributes } = await db.update({
    TableName: table,
    Key: { pk: cachePk(kind, hash, String(minuteOf(nowMs))) },
    UpdateExpression: "SET expires_at_s = :end ADD #kind :one",
    ExpressionAttributeNames: { "#kind": kind },
    ExpressionAttributeValues: { ":end": Math.floor(nowMs / 1_000) + KEPT_S, ":one": 1 },
    ReturnValues: "UPDATED_NEW",
  });
  return counted.parse(Attributes?.[kind]);
};

const refusal = (nowMs: number, message?: string): ServiceError =>
  new ServiceError("rate_limited", {
    retryAfterS: secondsToNextMinute(nowMs),
    ...(message !== undefined && { message }),
  });

/** Counts a search of a person. Throws beyond the limit. */
export const countSearch = async (table: Table, identity: string, nowMs: number): Promise<void> => {
  if ((await count(table, "searches", identity, nowMs)) > SEARCHES_PER_MINUTE) throw refusal(nowMs);
};

/** Counts an action by which an account's webhooks are sent again. Throws beyond the limit, which each kind of them has. */
export const countResend = async (
  table: Table,
  { accountId, by }: { readonly accountId: string; readonly by: "recovery" | "repair" },
  nowMs: number,
): Promise<void> => {
  if ((await count(table, "resends", `${by} ${accountId}`, nowMs)) <= RESENDS_PER_MINUTE) return;
  throw refusal(nowMs, `An account's webhooks are sent again ${RESENDS_PER_MINUTE} times a minute: wait a minute`);
};
