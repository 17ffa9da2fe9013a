import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { ServiceError } from "../contract/errors.ts";
import { rateGroups } from "../contract/limits.ts";
import type { Admit } from "../platform/api-handler.ts";
import { bodyBytes } from "../platform/api-request.ts";
import { type IpRange, isWithin } from "../platform/ip-range.ts";
import type { Secret } from "../platform/secrets.ts";

/** Shorter than this, a secret counts as absent. */
const SECRET_LENGTH_MIN = 32;
/** Hexadecimal HMAC-SHA256 over the body's exact bytes. */
export const SIGNATURE_HEADER = "x-webhook-signature";

export type UpstreamGate = {
  readonly token: { readonly current: Secret; readonly previous: Secret };
  /** Empty where the upstream has named no addresses. */
  readonly ranges: readonly IpRange[];
  readonly hmacKey: Secret;
};

const upstream = { accountId: "upstream", keyId: "upstream", mode: "live" } as const;

/**
 * Who may report outcomes: whoever knows the path's token, from a listed address, with a right signature, as far as each is
 * configured. Without a token there is no entrance at all.
 */
export const admitUpstream =
  ({ token, ranges, hmacKey }: UpstreamGate): Admit =>
  async ({ group }, request) => {
    const rate = { limit: rateGroups[group], remaining: rateGroups[group] };
    const current = strong(await token.current.value());
    if (current === undefined) throw new ServiceError("provider_unavailable", { retryAfterS: 60 });
    const presented = request.pathParameters?.token ?? "";
    const isKnown = sameSecret(presented, current) || sameSecret(presented, strong(await token.previous.value()));
    if (!isKnown) throw new ServiceError("not_found");

    const { sourceIp } = request.requestContext.http;
    if (ranges.length > 0 && !isWithin(sourceIp, ranges)) {
      throw new ServiceError("ip_not_whitelisted", { message: `The IP address ${sourceIp} is not whitelisted` });
    }
    const key = await hmacKey.value();
    if (key !== undefined) {
      if (strong(key) === undefined) throw new ServiceError("provider_unavailable", { retryAfterS: 60 });
      const expected = createHmac("sha256", key).update(bodyBytes(request)).digest("hex");
      if (!sameSecret(request.headers[SIGNATURE_HEADER] ?? "", expected)) {
        throw new ServiceError("invalid_api_key", { message: "The signature of this event is not valid" });
      }
    }
    return { rate, caller: upstream };
  };

/** Whether more than the path vouches for an event: only then may it fail a transaction. */
export const isVouchedFor = async ({ ranges, hmacKey }: UpstreamGate): Promise<boolean> =>
  ranges.length > 0 || (await hmacKey.value()) !== undefined;

const strong = (value: string | undefined): string | undefined =>
  value !== undefined && value.length >= SECRET_LENGTH_MIN ? value : undefined;

/** Compares hashes, in constant time, so that neither content nor length shows. */
const sameSecret = (presented: string, expected: string | undefined): boolean => {
  if (expected === undefined) return false;
  const hash = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(presented), hash(expected));
};
