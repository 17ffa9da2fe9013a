import { expect, test } from "vitest";
import { fourEyesSettings, parseFourEyes } from "../../../../shared/actions/four-eyes.ts";

const ROLE = "arn:aws:sts::123456789012:assumed-role";
const session = (name: string): string => `${ROLE}/AWSReservedSSO_operate_0123456789abcdef/${name}`;

const errorOf = (people: Readonly<Record<string, readonly string[]>>): string | undefined =>
  fourEyesSettings.safeParse({ people }).error?.issues[0]?.message;

test("an identity or a subject that is named twice, perhaps in another case, or has spaces, is refused", () => {
  expect(errorOf({ ada: [session("ada@example.com"), `${ROLE}/adas-laptop`], bola: [session("bola")] })).toBe(
    undefined,
  );
  expect(errorOf({ ada: [session("ada")], bola: [session("ada")] })).toMatch(/is named twice/);
  expect(errorOf({ ada: [session("ada")], bola: [session("ADA")] })).toMatch(/ADA belongs .* is named twice/);
  expect(errorOf({ ada: [session("ada")], Ada: [session("ada2")] })).toMatch(/^Ada belongs .* is named twice/);
  for (const key of [" ada", "ada ", "ada\t", ""]) expect(errorOf({ [key]: [session("ada")] })).toBeDefined();
  expect(errorOf({ ada: [`${session("ada")} `] })).toMatch(/^Must be the ARN/);
  expect(errorOf({ ada: ["arn:aws:iam::123456789012:user/ada "] })).toMatch(/^Must be the ARN/);
});

test("as many people as the environment of a function has room for are accepted", () => {
  const people = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `00u1a2b3c4d5e6f7${index}`,
        [session(`person${index}@example.com`)],
      ]),
    );
  expect(errorOf(people(15))).toBe(undefined);
  expect(errorOf(people(19))).toMatch(/^Must have at most 2000 bytes/);
});

test("a stage without the setting has no four eyes, and one with it has the defaults and the console's issuer", () => {
  expect(parseFourEyes("", "https://login.example.com/")).toBeUndefined();
  expect(parseFourEyes('{"hours":24}', "https://login.example.com/")).toEqual({
    ...{ resolveAboveNaira: 0, hours: 24, people: {} },
    issuer: "https://login.example.com/",
  });
});
