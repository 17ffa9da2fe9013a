import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect } from "vitest";
import { AirtimeClient } from "../../../client/src/index.ts";
import { projectRoot } from "../../../infra/bundle/project-root.ts";
import type { AccountStore } from "../../../shared/access/account-store.ts";
import { createAccount } from "../../../shared/access/accounts.ts";
import { createKey } from "../../../shared/access/keys.ts";
import { ALL_ENTITLEMENTS, permissionSchema } from "../../../shared/contract/permission.ts";
import { openDynamoDb, openSecretsManager } from "../../../shared/platform/aws/sdk.ts";
import { secret } from "../../../shared/platform/secrets.ts";
import { bootstrap, type DeployedStage, deployStage } from "../deployed-stage.ts";
import { startEmulator } from "../emulator.ts";

/** A company that installs the package in an empty folder, and deploys the sandbox with it. */
export const emulator = await startEmulator();
export const scratch = mkdtempSync(join(tmpdir(), "package-"));
/** The company's repository. */
export const folder = join(scratch, "stages");
/** What this tree synthesises of the sandbox; the first test makes it. */
export const synthesised = join(scratch, "synthesised");
afterAll(async () => {
  await emulator.stop();
  await rm(scratch, { recursive: true });
});
Object.assign(process.env, emulator.environment);

export const succeeds = async (cwd: string, ...command: readonly [string, ...string[]]): Promise<string> => {
  const { code, stdout, stderr } = await emulator.run(cwd, ...command);
  expect(code, stdout + stderr).toBe(0);
  return stdout;
};

/**
 * Beside the packages of this tree: npm keeps those that the package names, and deletes the others. Unpacking them again
 * would take most of an installation. The optional packages are kept too: with `--omit=optional` npm 10 also deletes those that
 * aws-cdk-lib has bundled.
 */
const install = async (file: string): Promise<void> => {
  const run = promisify(execFile);
  const from = join(projectRoot, "node_modules");
  const to = join(folder, "node_modules");
  // Without what tools keep there, such as npm's list of what it has installed.
  const names = readdirSync(from).filter((name) => name === ".bin" || !name.startsWith("."));
  mkdirSync(to, { recursive: true });
  await run("cp", ["-a", ...names, to], { cwd: from });
  const options = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--loglevel=error"];
  const { AWS_ENDPOINT_URL: _, ...env } = process.env;
  await run("npm", ["install", file, ...options], { cwd: folder, env });
};

/** The file of the package as it is. */
export const packed = /^\S+\.tgz/.exec(await succeeds(projectRoot, "npm", "run", "--silent", "package"))?.[0] ?? "";
await install(packed);
await succeeds(folder, "npx", "airtime", "init", "--yes");
await bootstrap(emulator, folder);

export const deploy = (): Promise<DeployedStage> => deployStage(emulator, "sandbox", folder);
export const stage = await deploy();

export const storeOf = ({ outputs }: DeployedStage): AccountStore => {
  const { AccessTable: accessTable = "", LedgerTable: ledgerTable = "", ChecksumKeySecretId = "" } = outputs;
  const checksumKey = secret(openSecretsManager(), ChecksumKeySecretId);
  return { db: openDynamoDb(), accessTable, ledgerTable, checksumKey };
};

/** An app of the company with a test key, whose orders go through everything but the upstream. */
export const newCaller = async (stageOfCaller: DeployedStage) => {
  const store = storeOf(stageOfCaller);
  const { account_id } = await createAccount(store, {
    name: "shop",
    whitelist: ["127.0.0.1"],
    entitlements: ALL_ENTITLEMENTS,
  });
  const { key } = await createKey(store, account_id, { mode: "test", permissions: permissionSchema.options });
  return { account_id, key, client: new AirtimeClient({ baseUrl: stageOfCaller.baseUrl, apiKey: key }) };
};

export const buy = (shop: AirtimeClient, reference: string) =>
  shop.airtime.purchase({ network: "mtn", phoneNumber: "08031234567", amount: 100 }, { reference });
