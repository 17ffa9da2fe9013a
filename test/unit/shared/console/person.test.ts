import { describe, expect, test } from "vitest";
import { principalOf } from "../../../../shared/actions/four-eyes.ts";
import { consoleEvent, readPerson, UnverifiedTokenError, WrongTokenError } from "../../../../shared/console/person.ts";
import { NotAllowedError } from "../../../../shared/platform/operator-error.ts";
import { textClaims } from "../../../../tools/local/jwt-authorizer.ts";
import { anApiEvent } from "../../../builders/aws/api-event.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

const ISSUER = "https://login.example.com/";
const claims = {
  iss: ISSUER,
  sub: "person-1",
  aud: "console",
  iat: NOON_MS / 1_000,
  exp: NOON_MS / 1_000 + 3_600,
  email: "Ada@Example.com",
  email_verified: true,
  preferred_username: "ada",
  groups: ["airtime-operators", "other team"],
};

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const tokenOf = (payload: unknown): string => `${encoded({ alg: "RS256" })}.${encoded(payload)}.c2ln`;

/** The person of a request whose token has these claims, and whose authorizer says what it verified. */
const personOf = (
  payload: Readonly<Record<string, unknown>>,
  {
    authorization = `Bearer ${tokenOf(payload)}`,
    verified = textClaims(payload),
    nowMs = NOON_MS,
    ...rules
  }: {
    readonly authorization?: string;
    readonly verified?: Readonly<Record<string, string>> | null;
    readonly groupsClaim?: string;
    readonly requiredAmr?: string;
    readonly nowMs?: number;
  } = {},
) => {
  const event = anApiEvent({ headers: { authorization } });
  const authorizer = verified && { jwt: { claims: verified, scopes: null } };
  const requestContext = { ...event.requestContext, ...(authorizer && { authorizer }) };
  return readPerson(
    consoleEvent.parse({ ...event, requestContext }),
    { groupsClaim: "groups", tokenMinutesMax: 15, ...rules },
    nowMs,
  );
};

describe("the person of a request", () => {
  test("a verified e-mail address in lower case names the person", () => {
    expect(personOf(claims)).toEqual({
      issuer: ISSUER,
      sub: "person-1",
      by: "ada@example.com",
      email: "ada@example.com",
      groups: ["airtime-operators", "other team"],
    });
  });

  test.each([undefined, false, "true", 1])("an address with email_verified %o does not count", (email_verified) => {
    const person = personOf({ ...claims, email_verified });
    expect(person.email).toBeUndefined();
    expect(person.by).toBe("ada (not verified)");
  });

  test("the e-mail address of another person as a chosen name does not read like that person", () => {
    const by = personOf({ ...claims, email_verified: false, preferred_username: "eve@example.com" }).by;
    expect(by).toBe("eve@example.com (not verified)");
  });

  test.each(["ada", "ada@example", "\u212Aada@example.com", "ada@ex\u0430mple.com"])(
    "the verified text %s is no e-mail address",
    (email) => {
      expect(personOf({ ...claims, email }).email).toBeUndefined();
    },
  );

  test("a person without address and name is named by the subject", () => {
    expect(personOf({ iss: ISSUER, sub: "person-1", aud: "console", iat: claims.iat, exp: claims.exp })).toEqual({
      issuer: ISSUER,
      sub: "person-1",
      by: "person-1",
      groups: [],
    });
  });

  test("a name with control characters does not name the person", () => {
    const by = personOf({ ...claims, email: undefined, preferred_username: "ada\u001b[2J" }).by;
    expect(by).toBe("person-1");
  });

  test.each([
    { groups: ["airtime-operators"], expected: ["airtime-operators"] },
    { groups: "airtime-operators", expected: ["airtime-operators"] },
    { groups: ["x airtime-operators"], expected: ["x airtime-operators"] },
    { groups: "[airtime-operators other]", expected: ["[airtime-operators other]"] },
    { groups: ["airtime-operators", 7], expected: [] },
    { groups: { 0: "airtime-operators" }, expected: [] },
    { groups: null, expected: [] },
    { groups: undefined, expected: [] },
  ])("the claim $groups gives the groups $expected", ({ groups, expected }) => {
    expect(personOf({ ...claims, groups }).groups).toEqual(expected);
  });

  test("groups are read from the claim of the setting", () => {
    const payload = { ...claims, "cognito:groups": ["team"] };
    expect(personOf(payload, { groupsClaim: "cognito:groups" }).groups).toEqual(["team"]);
    expect(personOf(payload, { groupsClaim: "constructor" }).groups).toEqual([]);
  });

  test.each([
    { name: "no authorizer", verified: null },
    { name: "another subject", verified: { ...textClaims(claims), sub: "person-2" } },
    { name: "another issuer", verified: { ...textClaims(claims), iss: "https://evil.example.com/" } },
    { name: "other groups", verified: { ...textClaims(claims), groups: "[airtime-readers]" } },
    { name: "no groups", verified: textClaims({ ...claims, groups: undefined }) },
    { name: "another address", verified: { ...textClaims(claims), email: "eve@example.com" } },
    { name: "an unverified address", verified: { ...textClaims(claims), email_verified: "false" } },
    { name: "another name", verified: { ...textClaims(claims), preferred_username: "eve" } },
    { name: "another end", verified: { ...textClaims(claims), exp: String(claims.exp - 1) } },
    { name: "another beginning", verified: { ...textClaims(claims), iat: "1" } },
    { name: "another audience", verified: { ...textClaims(claims), aud: "shop" } },
    { name: "methods that it lacks", verified: { ...textClaims(claims), amr: "[mfa]" } },
    { name: "a scope", verified: { ...textClaims(claims), scope: "openid" } },
  ])("a token is refused as unverified with $name", ({ verified }) => {
    expect(() => personOf(claims, { verified })).toThrow(UnverifiedTokenError);
  });

  test.each([
    { name: "is absent", authorization: "" },
    { name: "is of another scheme", authorization: `Basic ${tokenOf(claims)}` },
    { name: "is there twice", authorization: `Bearer ${tokenOf(claims)},Bearer ${tokenOf(claims)}` },
    { name: "has no signature", authorization: `Bearer ${encoded({})}.${encoded(claims)}.` },
    { name: "has a payload that is no JSON", authorization: "Bearer a.b.c" },
    { name: "has a payload that is a list", authorization: `Bearer ${tokenOf([claims])}` },
    { name: "has a subject that is no text", authorization: `Bearer ${tokenOf({ ...claims, sub: ["person-1"] })}` },
  ])("a token is refused as unverified if the header $name", ({ authorization }) => {
    expect(() => personOf(claims, { authorization, verified: textClaims(claims) })).toThrow(UnverifiedTokenError);
  });

  test.each([
    { name: "scope", changes: { scope: "openid" } },
    { name: "an empty scope", changes: { scope: "" } },
    { name: "scp", changes: { scp: ["user"] } },
    { name: "token_use access", changes: { token_use: "access" } },
    { name: "no audience", changes: { aud: undefined } },
  ])("an access token with $name is refused", ({ changes }) => {
    expect(() => personOf({ ...claims, ...changes })).toThrow(WrongTokenError);
  });

  test("a token is refused once it has expired, or is older than the setting allows", () => {
    const at = (minutes: number) => () => personOf(claims, { nowMs: NOON_MS + minutes * 60_000 });
    expect(at(14.99)().sub).toBe("person-1");
    expect(at(15)).toThrow(WrongTokenError);
    const short = { ...claims, exp: claims.iat + 300 };
    expect(personOf(short, { nowMs: NOON_MS + 299_999 }).sub).toBe("person-1");
    expect(() => personOf(short, { nowMs: NOON_MS + 300_000 })).toThrow(WrongTokenError);
  });

  test.each([undefined, ["pwd"], "mfa", ["MFA"]])(
    "a sign-in whose methods are %o is refused if mfa is required",
    (amr) => {
      expect(() => personOf({ ...claims, amr }, { requiredAmr: "mfa" })).toThrow(NotAllowedError);
      expect(personOf({ ...claims, amr: ["pwd", "mfa"] }, { requiredAmr: "mfa" }).sub).toBe("person-1");
    },
  );

  test("a list that the authorizer writes in another way is the same claim", () => {
    for (const groups of [
      "[airtime-operators other team]",
      "airtime-operators,other team",
      '["airtime-operators","other team"]',
    ]) {
      expect(personOf(claims, { verified: { ...textClaims(claims), groups } }).groups).toEqual(claims.groups);
    }
  });

  test("an ID token with token_use id is taken", () => {
    expect(personOf({ ...claims, token_use: "id" }).sub).toBe("person-1");
  });
});

test.each([
  ["arn:aws:sts::123456789012:assumed-role/operators/eve", "arn:aws:sts::123456789012:assumed-role/operators"],
  ["arn:aws-us-gov:sts::123456789012:assumed-role/r/a=b,c@d", "arn:aws-us-gov:sts::123456789012:assumed-role/r"],
  ["arn:aws:sts::123456789012:federated-user/eve", "arn:aws:sts::123456789012:federated-user"],
  ["arn:aws:iam::123456789012:user/people/eve", "arn:aws:iam::123456789012:user/people/eve"],
  ["arn:aws:iam::123456789012:root", "arn:aws:iam::123456789012:root"],
])("of the ARN %s, a person cannot choose %s", (arn, principal) => {
  expect(principalOf(arn)).toBe(principal);
});
