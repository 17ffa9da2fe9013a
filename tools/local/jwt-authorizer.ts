import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import * as z from "#zod";

/** What API Gateway passes to a function: all claims as texts. */
type AuthorizedClaims = Readonly<Record<string, string>>;

/** The claims of the token in an `authorization` header; undefined if it is refused. */
export type Authorize = (authorization: string | undefined) => Promise<AuthorizedClaims | undefined>;

/**
 * A JWT authorizer of API Gateway, with the rules that AWS documents and without a tolerance of clocks. AWS takes all
 * RSA algorithms; the local provider has only this one. Source: AWS, "Control access to HTTP APIs with JWT
 * authorizers".
 */
export const jwtAuthorizer =
  ({
    issuer,
    audience,
    keys,
  }: {
    readonly issuer: string;
    readonly audience: string;
    /** The provider's public keys, found by the token's `kid`. */
    readonly keys: JWTVerifyGetKey;
  }): Authorize =>
  async (authorization = "") => {
    const token = authorization.replace(/^Bearer /i, "");
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keys, {
        algorithms: ["RS256"],
        issuer,
        clockTolerance: 0,
        requiredClaims: ["exp"],
      });
      const isForUs = protectedHeader.kid !== undefined && isIssued(payload) && hasAudience(payload, audience);
      return isForUs ? textClaims(payload) : undefined;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  };

const isIssued = ({ iat }: JWTPayload): boolean => iat === undefined || iat <= Date.now() / 1_000;

/** `client_id` counts only in a token without `aud`. */
const hasAudience = ({ aud, client_id }: JWTPayload, audience: string): boolean =>
  aud === undefined ? client_id === audience : [aud].flat().includes(audience);

const scalar = z.pipe(z.union([z.string(), z.number(), z.boolean()]), z.transform(String));

/** Numbers and booleans as text, lists as `[a b]`, objects as JSON, null left out. */
export const textClaims = (payload: Readonly<Record<string, unknown>>): AuthorizedClaims =>
  Object.fromEntries(
    Object.entries(payload).flatMap(([name, value]) =>
      value === null || value === undefined ? [] : [[name, claimText(value)]],
    ),
  );

const claimText = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(claimText).join(" ")}]`
    : (scalar.safeParse(value).data ?? JSON.stringify(value));
