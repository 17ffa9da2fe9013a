import type { Context, Simulator } from "../context.ts";
import { simulatorOutputs, simulatorStackName } from "../context.ts";
import { PROGRAM, runOrFail } from "../run-process.ts";
import { outputsOf, TAG } from "../stacks.ts";

/** Deploys the upstream's simulator, whose address the stage's settings need. */
export const deploySimulator = async ({ stage, signal }: Context): Promise<Simulator> => {
  const app = ["--app", `node "${PROGRAM}" simulator-app`, "--context", `stage=${stage}`];
  const tags = ["--tags", `${TAG}=${stage}`];
  // A folder of its own: two syntheses must not share one.
  const output = ["--output", `.local/acceptance/${stage}-simulator`];
  await runOrFail("cdk", ["deploy", ...app, ...tags, ...output, "--require-approval", "never"], { signal });
  return simulatorOutputs.parse(await outputsOf(simulatorStackName(stage)));
};
