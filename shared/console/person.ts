import * as z from "#zod";
import { invalid } from "../call/invalid.ts";
import { operatorName, printableText } from "../contract/actions/action.ts";
import { jsonOf } from "../contract/values/json.ts";
import { apiEvent } from "../lambda/api-request.ts";
import type { Actor } from "../ledger/audit.ts";
import { NotAllowedError } from "../platform/operator-error.ts";
import type { ConsoleSettings } from "./console-settings.ts";

/**
 * A request that an authorizer of API Gateway let through: of a token, whose claims are texts there, or of a signature
 * with AWS credentials. Source: AWS, "Working with AWS Lambda proxy integrations for HTTP APIs".
 */
export const consoleEvent = z.extend(apiEvent, {
  rawPath: z.string(),
  requestContext: z.extend(apiEvent.shape.requestContext, {
    stage: z.string(),
    authorizer: z.optional(
      z.object({
        jwt: z.optional(z.object({ claims: z.looseObject({ iss: z.string(), sub: z.string() }) })),
        iam: z.optional(z.object({ userArn: z.string().check(z.minLength(1)) })),
      }),
    ),
  }),
});
export type ConsoleEvent = z.output<typeof consoleEvent>;

/** A person who signed in at the identity provider. */
export type Person = {
  readonly issuer: string;
  /** Never changes and is never given to another person. */
  readonly sub: string;
  /** As audit entries name the person. */
  readonly by: string;
  /** In lower case; only an address that the provider has verified. */
  readonly email?: string;
  readonly groups: readonly string[];
};

/** The name that an operator gives, percent-encoded because headers are ASCII. */
export const OPERATOR_NAME = "x-operator-name";

/** The request's token is not the one that API Gateway verified, or there is no authorizer at all. */
export class UnverifiedTokenError extends Error {
  override readonly name = "UnverifiedTokenError";
}

/** The token was verified, but is no ID token, or too old. */
export class WrongTokenError extends Error {
  override readonly name = "WrongTokenError";
}

/**
 * API Gateway takes a token without `Bearer` too. Two `authorization` headers arrive joined by a comma, which is
 * refused.
 */
const TOKEN = /^(?:Bearer )?[\w-]+\.([\w-]+)\.[\w-]+$/i;

const idToken = z.looseObject({
  iss: z.string(),
  /** Source: OpenID Connect Core 1.0, 2: at most 255 ASCII characters. */
  sub: z.string().check(z.regex(/^[\x20-\x7e]{1,255}$/)),
  exp: z.number(),
  iat: z.number(),
  amr: z.catch(z.array(z.string()), []),
  email: z.catch(z.optional(z.email().check(z.toLowerCase())), undefined),
  /** Some providers let people type any address, and send this claim as false or not at all. */
  email_verified: z.catch(z.optional(z.boolean()), undefined),
  preferred_username: z.catch(z.optional(printableText.check(z.minLength(1), z.maxLength(100))), undefined),
});

const tokenPayload = z.record(z.string(), z.unknown());

/** The claims that decide who a person is, beside the one of the groups. */
const USED_CLAIMS = [
  ...["iss", "sub", "aud", "exp", "iat", "amr"],
  ...["email", "email_verified", "preferred_username", "scope", "scp", "token_use"],
];

/** Whether a claim of the token is what the authorizer verified, which has it as a text and a list as `[a b]`. */
const isSameClaim = (claim: unknown, verified: unknown): boolean =>
  typeof claim === "number" ? Number(verified) === claim : wordsOf(claim) === wordsOf(verified);

/** AWS documents no form for lists, so what separates the entries does not count. */
const wordsOf = (claim: unknown): string => {
  if (claim === undefined || claim === null) return "";
  const text = Array.isArray(claim)
    ? claim.map(wordsOf).join(" ")
    : typeof claim === "object"
      ? JSON.stringify(claim)
      : String(claim);
  return text.replaceAll(/[[\]",\s]+/g, " ").trim();
};

/** One group is a text with some providers. */
const groupsSchema = z.catch(
  z.union([
    z.array(z.string()),
    z.pipe(
      z.string(),
      z.transform((group) => [group]),
    ),
  ]),
  [],
);

type TokenRules = Pick<ConsoleSettings, "groupsClaim" | "requiredAmr" | "tokenMinutesMax">;

/**
 * The person of a request. API Gateway has verified the token of the `authorization` header; it is decoded here,
 * because the authorizer's claims make `["a b"]` and `["a", "b"]` the same text: a person in the group
 * `x airtime-operators` would be an operator. Each claim that is used must be the one that was verified.
 */
export const readPerson = (
  { headers, requestContext }: ConsoleEvent,
  { groupsClaim, requiredAmr, tokenMinutesMax }: TokenRules,
  nowMs: number,
): Person => {
  const payload = tokenPayload.safeParse(payloadOf(headers.authorization)).data;
  const verified = requestContext.authorizer?.jwt?.claims;
  const used = [...USED_CLAIMS, groupsClaim];
  const isVerified = payload && verified && used.every((name) => isSameClaim(payload[name], verified[name]));
  const claims = isVerified ? idToken.safeParse(payload).data : undefined;
  if (claims === undefined) throw new UnverifiedTokenError("The token is not the one that the authorizer verified");
  if (isAccessToken(claims)) throw new WrongTokenError("Send the ID token, not the access token");
  if (nowMs >= Math.min(claims.exp, claims.iat + tokenMinutesMax * 60) * 1_000) {
    throw new WrongTokenError("The token is too old: sign in again");
  }
  if (requiredAmr !== undefined && !claims.amr.includes(requiredAmr)) {
    throw new NotAllowedError(
      `Sign in with ${requiredAmr}: your sign-in did not use it, or the provider does not say so`,
    );
  }
  const email = claims.email_verified === true ? claims.email : undefined;
  return {
    issuer: claims.iss,
    sub: claims.sub,
    by: email ?? unverifiedName(claims),
    ...(email !== undefined && { email }),
    groups: groupsSchema.parse(claims[groupsClaim]),
  };
};

/**
 * Who signed a request with AWS credentials; undefined if API Gateway verified no signature. The ARN is verified, and the
 * name beside it is not.
 */
export const readOperator = ({ headers, requestContext }: ConsoleEvent): Actor | undefined => {
  const arn = requestContext.authorizer?.iam?.userArn;
  if (arn === undefined) return undefined;
  const given = headers[OPERATOR_NAME];
  // The end of the ARN is the user's name, or that of the session.
  if (given === undefined) return { caller_arn: arn, by: arn.slice(arn.lastIndexOf("/") + 1) };
  const { data, error } = operatorName.safeParse(percentDecoded(given));
  if (data === undefined) throw invalid({ [OPERATOR_NAME]: error.issues.map(({ message }) => message) });
  return { caller_arn: arn, by: data };
};

const percentDecoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/** People may choose their name at some providers, so it could be the e-mail address of another person. */
const unverifiedName = ({ preferred_username: name, sub }: z.output<typeof idToken>): string =>
  name === undefined ? sub : `${name} (not verified)`;

/** API Gateway takes access tokens too, even without `aud`. */
const isAccessToken = (claims: Readonly<Record<string, unknown>>): boolean =>
  !("aud" in claims) || "scope" in claims || "scp" in claims || claims.token_use === "access";

const payloadOf = (authorization = ""): unknown => {
  const [, payload = ""] = TOKEN.exec(authorization) ?? [];
  return jsonOf(Buffer.from(payload, "base64url").toString("utf8"));
};
