import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SettingsError } from "../../infra/settings-error.ts";
import { fetchDynamoDbLocal, javaProblem } from "../../tools/local/dynamodb-local.ts";
import { DYNAMODB_LOCAL } from "../builders/dynamodb/test-dynamodb.ts";

/** Runs the integration tests on Amazon's own emulator, as a second opinion. */
const root = fileURLToPath(new URL("../../", import.meta.url));

const runTests = (jars: string): number => {
  const vitest = join(root, "node_modules", ".bin", "vitest");
  const config = join("test", "dynamodb-local", "vitest.config.ts");
  const env = { ...process.env, [DYNAMODB_LOCAL]: jars };
  const { status } = spawnSync(vitest, ["run", "--config", config, ...process.argv.slice(2)], {
    cwd: root,
    stdio: "inherit",
    env,
  });
  return status ?? 1;
};

try {
  const problem = javaProblem();
  if (problem !== undefined) throw new SettingsError(`DynamoDB Local cannot run: ${problem}.`);
  process.exitCode = runTests(fetchDynamoDbLocal(console.log));
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
