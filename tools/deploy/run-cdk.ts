import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, join } from "node:path";
import { projectRoot } from "../../infra/bundle/project-root.ts";

/** Runs the CDK's command line; resolves with its exit code. */
export const runCdk = async (args: readonly string[]): Promise<number> => {
  const tools = join(projectRoot, "node_modules", ".bin");
  const child = spawn(join(tools, "cdk"), args, {
    cwd: projectRoot,
    stdio: "inherit",
    // The app needs the Node version of this project, not the machine's.
    env: { ...process.env, PATH: [tools, process.env.PATH].join(delimiter) },
  });
  const [code] = await once(child, "exit");
  return typeof code === "number" ? code : 1;
};
