import { expect, test } from "vitest";
import { readConsoleToken } from "../../../../tools/acceptance/console-token.ts";

const inAnHour = Math.floor(Date.now() / 1_000) + 3_600;
const tokenWith = (claims: object): string => {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const valid = { iss: "https://login.example.com/", aud: "console", sub: "ada", exp: inAnHour };
  return `${part({ alg: "RS256" })}.${part({ ...valid, ...claims })}.c2lnbmF0dXJl`;
};

test("without a token there is nothing to try", () => {
  expect(readConsoleToken("")).toBeUndefined();
});

test.each([
  [{ groups: ["first", "second"] }, { operatorGroup: "first", groupsClaim: "groups" }, "operator"],
  [{ "cognito:groups": ["team"] }, { operatorGroup: "team", groupsClaim: "cognito:groups" }, "operator"],
  [{}, { operatorGroup: "acceptance-operators" }, null],
  [{ groups: [] }, { operatorGroup: "acceptance-operators" }, null],
  [{ aud: ["console"] }, { operatorGroup: "acceptance-operators" }, null],
])("the stage takes tokens like the one with %j", (claims, settings, role) => {
  expect(readConsoleToken(tokenWith(claims))).toEqual({
    token: tokenWith(claims),
    settings: {
      issuer: "https://login.example.com/",
      clientId: "console",
      readerGroup: "acceptance-readers",
      ...settings,
    },
    role,
  });
});

test.each([
  ["opaque", "is no ID token of a provider with https and for one client"],
  [tokenWith({ iss: "http://login.example.com" }), "is no ID token of a provider with https and for one client"],
  [tokenWith({ aud: ["console", "api"] }), "is no ID token of a provider with https and for one client"],
  [tokenWith({ exp: Math.floor(Date.now() / 1_000) + 600 }), "and must last for 1200 s"],
])("a token that cannot be used is refused before anything is deployed: %s", (token, sentence) => {
  expect(() => readConsoleToken(token)).toThrow(sentence);
});
