import { createHash } from "node:crypto";
import * as z from "#zod";
import { ServiceError } from "../contract/errors.ts";
import type { Table } from "../ledger/ledger.ts";
import { cachePk } from "../platform/cache-keys.ts";
import { minuteOf, secondsToNextMinute } from "../platform/time.ts";

/** A person's searches in a minute: more than anybody types, and too few to try one number after the other. */
export const SEARCHES_PER_MINUTE = 30;
const KEPT_S = 3_600;

const counted = z.object({ searches: z.int() });

/** Counts a search of a person. Throws beyond the limit. */
export const countSearch = async ({ db, table }: Table, identity: string, nowMs: number): Promise<void> => {
  const person = createHash("sha256").update(identity).digest("base64url");
  const { Attributes } = await db.update({
    TableName: table,
    Key: { pk: cachePk("searches", person, String(minuteOf(nowMs))) },
    UpdateExpression: "SET expires_at_s = :end ADD searches :one",
    ExpressionAttributeValues: { ":end": Math.floor(nowMs / 1_000) + KEPT_S, ":one": 1 },
    ReturnValues: "UPDATED_NEW",
  });
  if (counted.parse(Attributes).searches <= SEARCHES_PER_MINUTE) return;
  throw new ServiceError("rate_limited", { retryAfterS: secondsToNextMinute(nowMs) });
};
