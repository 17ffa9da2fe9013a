import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { expectPassed, run } from "./npm.ts";

/**
 * Goal: no script that runs tests has stopped working. Method: as in short-forms.script.ts, beside which it runs.
 * `npm run test:clients` is in conformance.script.ts, which uses what it has built.
 */
const folder = mkdtempSync(join(tmpdir(), "scripts-"));
/** What functions may do is the same in both runs that need it: to write it takes 4 CPU seconds. */
const ROLES_FILE = join(folder, "roles.json");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("npm run test:faults runs a scenario of the crash points with a fault at each of its effects", async () => {
  const only = ["crash-points", "-t", "a purchase beyond the wallet's balance .*(without a fault|effect throttled)"];
  expectPassed(await run("test:faults", only, { env: { STRICT_SETTING: "perfect", ROLES_FILE } }));
});

test("npm run test:mutants kills a seeded mutant", async () => {
  const output = await run("test:mutants", ["the debit does not check"], { env: { ROLES_FILE } });
  expect(output).toContain("1 of 1 seeded mutants were killed");
});

test("npm run test:load counts the calls of invalid keys", async () => {
  const env = { LOAD_SHARE: "0.004" };
  expectPassed(await run("test:load", ["invalid-keys", "-t", "costs no DynamoDB call"], { env }));
});

test("npm run test:mutation mutates a function, and most mutants are killed", async () => {
  const [, score = "0"] = /All files +\| +([\d.]+)/.exec(await run("test:mutation", ["--short"])) ?? [];
  expect(Number(score)).toBeGreaterThan(50);
});

test("npm run test:runtimes runs the packed client in every runtime", async () => {
  expectPassed(await run("test:runtimes"));
});

test("npm run test:dynamodb-local runs an integration test on Amazon's emulator", async () => {
  expectPassed(await run("test:dynamodb-local", ["test/integration/shared/ledger/get-item.test.ts"]));
});
