import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, join } from "node:path";
import { SettingsError } from "../../infra/settings-error.ts";

/** Runs the CDK's command line; resolves with its exit code. */
export const runCdk = async (args: readonly string[]): Promise<number> => {
  const child = spawn("cdk", args, {
    stdio: "inherit",
    // The app needs the Node version of the lock file, not the machine's.
    env: { ...process.env, PATH: [join(process.cwd(), "node_modules", ".bin"), process.env.PATH].join(delimiter) },
  });
  const [code] = await once(child, "exit").catch((error: unknown) => {
    throw new SettingsError(`The CDK cannot be started: npm ci installs it. ${error}`, { cause: error });
  });
  return typeof code === "number" ? code : 1;
};
