import type { Context, Stage } from "../context.ts";
import { assertThat, found, type Outcome } from "../outcome.ts";
import { PROGRAM } from "../run-process.ts";

/** Compares the deployed stacks with another synthesis. */
export const compareStacks = async ({ stage }: Context, { run }: Stage): Promise<Outcome> => {
  const { code, stdout, stderr } = await run("node", [PROGRAM, "diff", "--stage", stage, "--fail"]);
  const output = stdout + stderr;
  assertThat(code === 0, `cdk diff --fail ended with ${code}: ${output.trim().slice(-800)}`);
  assertThat(
    output.includes("Number of stacks with differences: 0"),
    `cdk diff compared nothing: ${output.trim().slice(-800)}`,
  );
  return found("no difference after the deployment");
};
