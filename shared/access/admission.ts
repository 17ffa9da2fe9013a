import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { errors, ServiceError } from "../contract/errors.ts";
import { headers } from "../contract/headers.ts";
import { rateGroups } from "../contract/limits.ts";
import { lacksPermission, type Route } from "../contract/routes.ts";
import type { Admit } from "../lambda/api-handler.ts";
import type { Rate } from "../lambda/api-response.ts";
import { isWithin } from "../platform/ip-range.ts";
import { type Clock, minuteOf, secondsToNextMinute, systemClock } from "../platform/time.ts";
import { isWellFormedKey, keyHash } from "./api-key.ts";

import { countRequest, type KeyItem } from "./key-store.ts";

/**
 * The gates before the body: key (401), account and permission (403), address (403), rate (429). One write does all of it, so
 * that a revoked key or a restricted account works at once: there is no cache to go stale. Source: INTERFACE "Authentication".
 */
export const createAdmission =
  (db: DynamoDBDocumentClient, accessTable: string, clock: Clock = systemClock): Admit =>
  async (route, request) => {
    const hash = keyHash(presentedKey(request.headers));
    const nowMs = clock();
    const counted = await countRequest(db, accessTable, { hash, group: route.group, minute: minuteOf(nowMs) });
    if (counted === undefined || hasEnded(counted.row, nowMs)) throw new ServiceError("invalid_api_key");

    const { row, requestsThisMinute } = counted;
    const limit = rateGroups[route.group];
    const rate: Rate = { limit, remaining: Math.max(0, limit - requestsThisMinute) };
    const refusal = refusalOf(row, route, request.requestContext.http.sourceIp);
    if (refusal !== undefined) return { rate, refusal };
    if (requestsThisMinute > limit) {
      return { rate, refusal: new ServiceError("rate_limited", { retryAfterS: secondsToNextMinute(nowMs) }) };
    }
    return { rate, caller: { accountId: row.account_id, keyId: row.key_id, mode: row.mode } };
  };

/** Revoked, or rotated away and its overlap over. */
const hasEnded = ({ status, expires_at }: KeyItem, nowMs: number): boolean =>
  status === "revoked" || (expires_at !== undefined && nowMs >= Date.parse(expires_at));

const refusalOf = (row: KeyItem, { permission }: Route, sourceIp: string): ServiceError | undefined => {
  if (row.account_status === "restricted") return new ServiceError("account_restricted");
  if (permission !== undefined && !row.permissions?.has(permission)) {
    return new ServiceError("permission_denied", { message: lacksPermission(permission) });
  }
  if (isWithin(sourceIp, row.whitelist ?? [])) return undefined;
  // Only the address that the platform saw is believed and named, never X-Forwarded-For.
  return new ServiceError("ip_not_whitelisted", { message: `The IP address ${sourceIp} is not whitelisted` });
};

/** Says nothing of what the header holds. */
const MISFORMED_AUTHORIZATION = `${errors.invalid_api_key.message}: send it as Authorization: Bearer <key>, without quotation marks`;

/** The key as it was sent: `Authorization: Bearer` first, then `X-API-KEY`. */
const presentedKey = (sent: Readonly<Record<string, string>>): string => {
  const bearer = /^Bearer[ \t]+(\S+)[ \t]*$/i.exec(sent.authorization ?? "")?.[1];
  const key = bearer ?? sent[headers.apiKey]?.trim() ?? "";
  if (key === "" && !sent.authorization) throw new ServiceError("missing_api_key");
  if (isWellFormedKey(key)) return key;
  const isMisformed = sent[headers.apiKey] === undefined && (bearer === undefined || /["']/.test(bearer));
  throw new ServiceError("invalid_api_key", isMisformed ? { message: MISFORMED_AUTHORIZATION } : {});
};
