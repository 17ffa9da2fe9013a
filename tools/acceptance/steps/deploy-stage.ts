import { stackName } from "../../../infra/outputs.ts";
import { THROW_AWAY_STAGE, type ThrowAwayStage } from "../../../infra/read-stages.ts";
import { jsonOf } from "../../../shared/contract/values/json.ts";
import { type Context, type Simulator, type Stage, stageOutputs } from "../context.ts";
import { callable, emulatorEndpoint, enableTableSettings, letFunctionsReachSimulator } from "../emulator.ts";
import { AcceptanceError } from "../outcome.ts";
import { PROGRAM, runOrFail, runProcess } from "../run-process.ts";
import { outputsOf, TAG } from "../stacks.ts";

/** Deploys the stage with the commands that deploy every stage. */
export const deployStage = async ({ stage, region, signal }: Context, simulator: Simulator): Promise<Stage> => {
  const upstreamBaseUrl = simulator.SimulatorUrl.replace(/^http:/, "https:");
  const throwAway: ThrowAwayStage = { stage, region, upstreamBaseUrl };
  const environment = { [THROW_AWAY_STAGE]: JSON.stringify(throwAway) };
  const run: Stage["run"] = (command, args, input = "") => runProcess(command, args, { signal, environment, input });

  const options = ["--stage", stage, "--require-approval", "never", "--tags", `${TAG}=${stage}`];
  await runOrFail("node", [PROGRAM, "deploy", ...options], { signal, environment });
  await runOrFail("node", [PROGRAM, "deploy", "--administrator", ...options], { signal, environment });
  const outputs = stageOutputs.parse(await outputsOf(stackName(stage, "Service")));
  if (emulatorEndpoint() !== undefined) {
    await letFunctionsReachSimulator(stage, simulator.SimulatorUrl);
    await enableTableSettings(outputs);
  }
  return {
    outputs,
    baseUrl: callable(outputs.ApiUrl),
    run,
    admin: async (schema, args, input) => {
      const { stdout, stderr } = await run("node", [PROGRAM, "admin", "--stage", stage, "--json", ...args], input);
      const answer = schema.safeParse(jsonOf(stdout));
      if (answer.success) return answer.data;
      throw new AcceptanceError(`admin ${args.slice(0, 2).join(" ")} answered ${stdout.trim() || stderr.trim()}`);
    },
  };
};
