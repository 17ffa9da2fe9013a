import { expect, test } from "vitest";
import { functionNames, specOf } from "../../../../infra/functions.ts";
import { secretIds, secretNames, secretTable, secretValues } from "../../../../shared/platform/secret-table.ts";

test("every secret is read by at least one function", () => {
  const parsed = functionNames.flatMap((each) => specOf(each).environment ?? []);
  for (const name of secretNames) expect(parsed, name).toContain(secretTable[name].variable);
});

test("no two secrets share an environment variable", () => {
  expect(new Set(secretNames.map((name) => secretTable[name].variable)).size).toBe(secretNames.length);
});

test("a fixed secret can be adopted, and no other secret can", () => {
  for (const name of secretNames) {
    const spec = secretTable[name];
    expect("adoptedAs" in spec, name).toBe(spec.kind === "fixed");
  }
});

test("values and ids are made for every secret, and an empty one is refused", () => {
  expect(Object.keys(secretValues((name) => name))).toEqual([...secretNames]);
  expect(secretIds((name) => `id of ${name}`).REPLAY_KEY_SECRET_ID).toBe("id of replay-key");
  expect(() => secretIds((name) => (name === "webhook-token" ? "" : name))).toThrow("WEBHOOK_TOKEN_SECRET_ID");
});
