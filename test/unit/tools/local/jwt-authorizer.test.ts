import { createHmac, generateKeyPairSync } from "node:crypto";
import { createLocalJWKSet, type JWTHeaderParameters, type JWTPayload, SignJWT } from "jose";
import { describe, expect, test } from "vitest";
import { jwtAuthorizer } from "../../../../tools/local/jwt-authorizer.ts";

const ISSUER = "https://login.example.com/";
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const stranger = generateKeyPairSync("rsa", { modulusLength: 2048 });
const keys = createLocalJWKSet({
  keys: [{ ...publicKey.export({ format: "jwk" }), kid: "key-1" }],
});
const authorize = jwtAuthorizer({ issuer: ISSUER, audience: "console", keys });

const nowS = (): number => Math.floor(Date.now() / 1_000);
const claims = (): JWTPayload => ({ iss: ISSUER, sub: "person-1", aud: "console", iat: nowS(), exp: nowS() + 60 });
const header: JWTHeaderParameters = { alg: "RS256", kid: "key-1" };

const signed = (changes: JWTPayload = {}, headerChanges: Partial<JWTHeaderParameters> = {}, key = privateKey) =>
  new SignJWT({ ...claims(), ...changes }).setProtectedHeader({ ...header, ...headerChanges }).sign(key);

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("a token that the authorizer lets through", () => {
  test("claims are texts: numbers, lists and objects too, and null is left out", async () => {
    const times = { iat: nowS() - 1, exp: nowS() + 60, nbf: nowS() - 1 };
    const token = await signed({
      ...times,
      email_verified: true,
      groups: ["airtime-operators", "other team"],
      address: { country: "NG" },
      nothing: null,
    });
    expect(await authorize(`Bearer ${token}`)).toEqual({
      iss: ISSUER,
      sub: "person-1",
      aud: "console",
      iat: String(times.iat),
      exp: String(times.exp),
      nbf: String(times.nbf),
      email_verified: "true",
      groups: "[airtime-operators other team]",
      address: '{"country":"NG"}',
    });
  });

  test.each([
    { name: "one of several audiences", changes: { aud: ["other", "console"] } },
    { name: "a client_id and no audience", changes: { aud: undefined, client_id: "console" } },
  ])("$name is enough", async ({ changes }) => {
    expect(await authorize(`Bearer ${await signed(changes)}`)).toMatchObject({ sub: "person-1" });
  });

  test("the word Bearer is in any case, or absent", async () => {
    const token = await signed();
    expect(await authorize(`bearer ${token}`)).toBeDefined();
    expect(await authorize(token)).toBeDefined();
  });
});

describe("a token that the authorizer refuses", () => {
  test.each([
    { name: "another issuer", changes: { iss: "https://login.example.com" } },
    { name: "no issuer", changes: { iss: undefined } },
    { name: "another audience", changes: { aud: "other" } },
    { name: "another audience beside our client_id", changes: { aud: "other", client_id: "console" } },
    { name: "neither audience nor client_id", changes: { aud: undefined } },
    { name: "no end", changes: { exp: undefined } },
    { name: "an end in this second", changes: { exp: nowS() } },
    { name: "a beginning in the future", changes: { nbf: nowS() + 30 } },
    { name: "a time of issue in the future", changes: { iat: nowS() + 30 } },
  ])("a token with $name is refused", async ({ changes }) => {
    expect(await authorize(`Bearer ${await signed(changes)}`)).toBeUndefined();
  });

  test.each<[string, Partial<JWTHeaderParameters>, typeof privateKey?]>([
    ["another key, also under our key's id", {}, stranger.privateKey],
    ["the id of another key", { kid: "key-2" }],
    ["no id of a key", { kid: undefined }],
    ["another algorithm", { alg: "RS512" }],
  ])("a token with %s is refused", async (_, headerChanges, key) => {
    expect(await authorize(`Bearer ${await signed({}, headerChanges, key)}`)).toBeUndefined();
  });

  test.each(["none", "None", "nOnE"])("a token with the algorithm %s is refused", async (alg) => {
    const unsigned = `${encoded({ ...header, alg })}.${encoded(claims())}`;
    expect(await authorize(`Bearer ${unsigned}.`)).toBeUndefined();
    expect(await authorize(`Bearer ${unsigned}.c2ln`)).toBeUndefined();
  });

  test("a token signed with HS256 and our public key as the secret is refused", async () => {
    const content = `${encoded({ ...header, alg: "HS256" })}.${encoded(claims())}`;
    const secrets = [
      publicKey.export({ type: "spki", format: "pem" }),
      publicKey.export({ type: "spki", format: "der" }),
    ];
    for (const secret of secrets) {
      const signature = createHmac("sha256", secret).update(content).digest("base64url");
      expect(await authorize(`Bearer ${content}.${signature}`)).toBeUndefined();
    }
  });

  test("a token whose claims were changed after it was signed is refused", async () => {
    const [head, , signature] = (await signed()).split(".");
    const forged = encoded({ ...claims(), groups: ["airtime-operators"] });
    expect(await authorize(`Bearer ${head}.${forged}.${signature}`)).toBeUndefined();
  });

  test.each([undefined, "", "Bearer", "Bearer x", "Basic b3A6b3A=", "Bearer a.b.c"])(
    "the header %s is refused",
    async (authorization) => {
      expect(await authorize(authorization)).toBeUndefined();
    },
  );

  test("two tokens in one header are refused", async () => {
    const token = `Bearer ${await signed()}`;
    expect(await authorize(`${token},${token}`)).toBeUndefined();
  });
});

test("keys that cannot be fetched are an error, and no refusal", async () => {
  const offline = jwtAuthorizer({
    issuer: ISSUER,
    audience: "console",
    keys: () => Promise.reject(new TypeError("fetch failed")),
  });
  await expect(offline(`Bearer ${await signed()}`)).rejects.toThrow("fetch failed");
});
