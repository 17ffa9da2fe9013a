import { createHash, timingSafeEqual } from "node:crypto";
import { ServiceError } from "../contract/errors.ts";
import type { Admit } from "../lambda/api-handler.ts";
import { type ApiRequest, bodyBytes } from "../lambda/api-request.ts";
import { unusedRate } from "../lambda/api-response.ts";
import { type IpRange, isWithin } from "../platform/ip-range.ts";
import type { RotatingSecret } from "../platform/rotating-secret.ts";
import { signatureOf, type UpstreamSignature } from "./upstream-signature.ts";

/** Shorter than this, a secret counts as absent. */
const SECRET_LENGTH_MIN = 32;

export type UpstreamGate = {
  readonly pathToken: RotatingSecret;
  /** Empty where the upstream has named no addresses. */
  readonly ranges: readonly IpRange[];
  /** Absent where events are not signed. */
  readonly signature?: { readonly scheme: UpstreamSignature; readonly key: RotatingSecret };
};

const upstream = { accountId: "upstream", keyId: "upstream", mode: "live" } as const;

/**
 * Who may report outcomes: whoever knows the path's token, from a listed address, with a right signature, as far as each is
 * configured. Without a token there is no entrance at all, and none without a key where signatures are configured.
 */
export const admitUpstream =
  ({ pathToken, ranges, signature }: UpstreamGate): Admit =>
  async ({ group }, request) => {
    await assertPresent(pathToken);
    const presented = request.pathParameters?.token ?? "";
    if (!(await pathToken.matches((version) => isStrong(version) && sameSecret(presented, version)))) {
      throw new ServiceError("not_found");
    }

    const { sourceIp } = request.requestContext.http;
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
    return { rate: unusedRate(group), caller: upstream };
  };

/** Whether more than the path vouches for the events that are let in: only then may one fail a transaction. */
export const authenticatesEvents = ({ ranges, signature }: UpstreamGate): boolean =>
  ranges.length > 0 || signature !== undefined;

const assertPresent = async ({ current }: RotatingSecret): Promise<void> => {
  if (!isStrong((await current()) ?? "")) throw new ServiceError("provider_unavailable", { retryAfterS: 60 });
};

const isStrong = (value: string): boolean => value.length >= SECRET_LENGTH_MIN;

const isSignedWith = (key: string, scheme: UpstreamSignature, request: ApiRequest): boolean => {
  // Hexadecimal digits may come in either case.
  const normal = (text: string): string => (scheme.encoding === "hex" ? text.toLowerCase() : text);
  const presented = request.headers[scheme.header] ?? "";
  return sameSecret(normal(presented), normal(signatureOf(scheme, key, bodyBytes(request))));
};

/** Compares hashes, in constant time, so that neither content nor length shows. */
const sameSecret = (presented: string, expected: string): boolean => {
  const hash = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(presented), hash(expected));
};
