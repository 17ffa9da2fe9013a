import { readFileSync } from "node:fs";
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

test("the calendar of rotations has each secret, with the command for its kind", () => {
  const calendar = readFileSync("docs/deployment.md", "utf8").split("\n");
  for (const name of secretNames) {
    const [row, ...others] = calendar.filter((line) => line.startsWith(`| \`${name}\` |`));
    const commands = { filled: `secrets set ${name}`, generated: `secrets rotate ${name}`, fixed: "never" };
    expect(row, `${name}: add its row to "Rotate secrets" in docs/deployment.md`).toBeDefined();
    expect(row).toContain(commands[secretTable[name].kind]);
    expect(others).toEqual([]);
  }
});
