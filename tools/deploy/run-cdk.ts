import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, join } from "node:path";

/** Runs the CDK's command line; resolves with its exit code. */
export const runCdk = async (args: readonly string[]): Promise<number> => {
  const child = spawn("cdk", args, {
    stdio: "inherit",
    // The app needs the Node version of the lock file, not the machine's.
    env: { ...process.env, PATH: [join(process.cwd(), "node_modules", ".bin"), process.env.PATH].join(delimiter) },
  });
  const [code] = await once(child, "exit");
  return typeof code === "number" ? code : 1;
};
