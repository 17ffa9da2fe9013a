import type { Admit } from "../call/call.ts";
import type { Rate } from "../call/result.ts";
import { errors, ServiceError } from "../contract/errors.ts";
import { headers } from "../contract/headers.ts";
import { type RateGroup, rateGroups } from "../contract/limits.ts";
import { allows, lacksPermission, notEntitled, permittedEntitlements } from "../contract/permission.ts";
import type { Route } from "../contract/route.ts";
import type { DocumentClient } from "../platform/aws-clients.ts";
import { isWithin } from "../platform/ip-address.ts";
import { type Clock, minuteOf, secondsToNextMinute, systemClock } from "../platform/time.ts";
import { hasChecksum, hashApiKey, hasKeyForm } from "./api-key.ts";
import type { ChecksumKey } from "./checksum-key.ts";
import { countRequest, type KeyItem } from "./key-store.ts";

type Counted = Awaited<ReturnType<typeof countRequest>>;

/**
 * Checks key (401), account, permission and IP address (403), and rate (429). One write reads and counts,
 * and only what is refused by its rate is remembered, so a revoked key or a restricted account is refused from the next
 * request on. Source: docs/interface.md section 2.
 */
export const createAdmission = (
  db: DocumentClient,
  accessTable: string,
  checksumKey: ChecksumKey,
  clock: Clock = systemClock,
): Admit => {
  let spent = { minute: 0, counts: new Map<string, Counted>() };
  /**
   * Counts a request, unless this instance knows that the key has spent its minute: it is refused then in any case.
   * Without this a flood of one key would throttle the partition of its item, and functions that retry would take up the
   * concurrency of the AWS account.
   */
  const count = async (hash: string, group: RateGroup, minute: number): Promise<Counted> => {
    if (spent.minute !== minute) spent = { minute, counts: new Map() };
    const { counts } = spent;
    const counter = `${group} ${hash}`;
    const known = counts.get(counter);
    if (known !== undefined) return known;
    const counted = await countRequest(db, accessTable, { hash, group, minute });
    if ((counted?.requestsThisMinute ?? 0) > rateGroups[group].requestsPerMinute) counts.set(counter, counted);
    return counted;
  };

  return async (route, request) => {
    const presented = presentedKey(request.headers);
    const known = await checksumKey();
    if (known !== undefined && !hasChecksum(presented, known)) throw new ServiceError("invalid_api_key");
    const hash = hashApiKey(presented);
    const nowMs = clock();
    const counted = await count(hash, route.group, minuteOf(nowMs));
    if (counted === undefined || hasEnded(counted.keyItem, nowMs)) throw new ServiceError("invalid_api_key");

    const { keyItem, requestsThisMinute } = counted;
    const { requestsPerMinute: limit } = rateGroups[route.group];
    const rate: Rate = { limit, remaining: Math.max(0, limit - requestsThisMinute) };
    const refusal = refusalOf(keyItem, route, request.sourceIp);
    if (refusal !== undefined) return { rate, refusal };
    if (requestsThisMinute > limit) {
      return { rate, refusal: new ServiceError("rate_limited", { retryAfterS: secondsToNextMinute(nowMs) }) };
    }
    const { account_id: accountId, key_id: keyId, mode, permissions, duplicate_window_s: duplicateWindowS } = keyItem;
    const { account_limits: account, key_limits: key } = keyItem;
    const limits = account === undefined && key === undefined ? undefined : { account, key };
    const entitlements = permittedEntitlements(keyItem.entitlements, permissions);
    const { price_list: priceList } = keyItem;
    return { rate, caller: { accountId, keyId, mode, entitlements, priceList, duplicateWindowS, limits } };
  };
};

/** True if the key is revoked, or rotated and past its end. */
const hasEnded = ({ status, expires_at }: KeyItem, nowMs: number): boolean =>
  status === "revoked" || (expires_at !== undefined && nowMs >= Date.parse(expires_at));

const refusalOf = (keyItem: KeyItem, { permissions }: Route, sourceIp: string): ServiceError | undefined => {
  if (keyItem.account_status !== "active") return new ServiceError("account_restricted");
  if (permissions !== undefined) {
    const held = permissions.filter((permission) => keyItem.permissions?.has(permission));
    if (held.length === 0) return new ServiceError("permission_denied", { message: lacksPermission(permissions) });
    if (!held.some((permission) => allows(keyItem.entitlements, permission))) {
      return new ServiceError("permission_denied", { message: notEntitled(held) });
    }
  }
  if (isWithin(sourceIp, keyItem.whitelist ?? [])) return undefined;
  // Only the address that API Gateway saw counts, never X-Forwarded-For.
  return new ServiceError("ip_not_whitelisted", { message: `The IP address ${sourceIp} is not whitelisted` });
};

/** Repeats nothing of the header, which may hold a key. */
const MALFORMED_AUTHORIZATION = `${errors.invalid_api_key.message}: send it as Authorization: Bearer <key>, without quotation marks`;

const TWO_KEYS = `${errors.invalid_api_key.message}: Authorization and X-API-KEY have different keys, send one of them`;

/** The key as it was sent: `Authorization: Bearer` first, then `X-API-KEY`. Source: docs/interface.md 2.D1. */
const presentedKey = (sent: Readonly<Record<string, string>>): string => {
  const bearer = /^Bearer[ \t]+(\S+)[ \t]*$/i.exec(sent.authorization ?? "")?.[1];
  const other = sent[headers.apiKey]?.trim();
  const key = bearer ?? other ?? "";
  if (key === "" && !sent.authorization) throw new ServiceError("missing_api_key");
  if (other && other !== key) throw new ServiceError("invalid_api_key", { message: TWO_KEYS });
  if (hasKeyForm(key)) return key;
  const isMalformed = sent[headers.apiKey] === undefined && (bearer === undefined || /["']/.test(bearer));
  throw new ServiceError("invalid_api_key", isMalformed ? { message: MALFORMED_AUTHORIZATION } : {});
};
