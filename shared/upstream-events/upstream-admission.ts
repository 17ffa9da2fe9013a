import { createHash, timingSafeEqual } from "node:crypto";
import type { Admit, CallRequest } from "../call/call.ts";
import { unusedRate } from "../call/result.ts";
import { ServiceError } from "../contract/errors.ts";
import { type IpRange, isWithin } from "../platform/ip-address.ts";
import type { RotatingSecret } from "../platform/rotating-secret.ts";
import { SECRET_LENGTH_MIN } from "../platform/secret-length.ts";
import type { EventSignature } from "../upstream/profile.ts";
import { signatureOf } from "./upstream-signature.ts";

export type UpstreamAuthentication = {
  readonly pathToken: RotatingSecret;
  /** Empty if the upstream has named no addresses. */
  readonly ranges: readonly IpRange[];
  /** Absent if events are not signed. */
  readonly signature?: { readonly scheme: EventSignature; readonly key: RotatingSecret };
};

const upstreamCaller = { accountId: "upstream", keyId: "upstream", mode: "live", entitlements: {} } as const;

/**
 * Admits requests with the path token and, where these are configured, from a listed address and with a valid
 * signature. Nothing is admitted while the token is absent, or the signing key where signatures are configured.
 */
export const createUpstreamAdmission =
  ({ pathToken, ranges, signature }: UpstreamAuthentication): Admit =>
  async ({ group }, request) => {
    await assertPresent(pathToken);
    const presented = request.pathParameters.token ?? "";
    if (!(await pathToken.matches((version) => isStrong(version) && isSameSecret(presented, version)))) {
      throw new ServiceError("not_found");
    }

    const { sourceIp } = request;
    if (ranges.length > 0 && !isWithin(sourceIp, ranges)) {
      throw new ServiceError("ip_not_whitelisted", { message: `The IP address ${sourceIp} is not whitelisted` });
    }
    if (signature !== undefined) {
      await assertPresent(signature.key);
      const isSigned = await signature.key.matches(
        (version) => isStrong(version) && isSignedWith(version, signature.scheme, request),
      );
      if (!isSigned) throw new ServiceError("invalid_api_key", { message: "The signature of this event is not valid" });
    }
    return { rate: unusedRate(group), caller: upstreamCaller };
  };

/**
 * Whether the admission checks more than the path token: only authenticated events may settle a transaction as
 * `failed`.
 */
export const authenticatesEvents = ({ ranges, signature }: UpstreamAuthentication): boolean =>
  ranges.length > 0 || signature !== undefined;

const assertPresent = async ({ current }: RotatingSecret): Promise<void> => {
  if (!isStrong((await current()) ?? "")) throw new ServiceError("provider_unavailable", { retryAfterS: 60 });
};

/** A shorter secret counts as absent. */
const isStrong = (value: string): boolean => value.length >= SECRET_LENGTH_MIN;

const isSignedWith = (key: string, scheme: EventSignature, request: CallRequest): boolean => {
  // Hexadecimal digits may have either case.
  const normalised = (text: string): string => (scheme.encoding === "hex" ? text.toLowerCase() : text);
  const presented = request.headers[scheme.header] ?? "";
  return isSameSecret(normalised(presented), normalised(signatureOf(scheme, key, request.body())));
};

/** Compares hashes in constant time, so timing reveals neither content nor length. */
const isSameSecret = (presented: string, expected: string): boolean => {
  const hash = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(presented), hash(expected));
};
