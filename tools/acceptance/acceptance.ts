import type { Context, Simulator, Stage, Wait } from "./context.ts";
import { emulatorEndpoint, emulatorSkips } from "./emulator.ts";
import { type Outcome, skipped } from "./outcome.ts";
import { createSteps, type StepResult } from "./run-steps.ts";
import { raiseAlarms } from "./steps/alarms.ts";
import type { Place } from "./steps/check-place.ts";
import { cleanUp } from "./steps/clean-up.ts";
import { runContractSuite } from "./steps/contract.ts";
import { deploySimulator } from "./steps/deploy-simulator.ts";
import { deployStage } from "./steps/deploy-stage.ts";
import { compareStacks } from "./steps/diff.ts";
import { runDoctor } from "./steps/doctor.ts";
import { readLagAndConflicts } from "./steps/lag-and-conflicts.ts";
import { buySimultaneously } from "./steps/purchases.ts";
import { restoreLedger } from "./steps/restore.ts";
import { rotateSecrets } from "./steps/rotation.ts";
import { type SetUp, setUp } from "./steps/set-up.ts";
import { checkTables } from "./steps/tables.ts";
import { settleByEvents } from "./steps/upstream-events.ts";
import { receiveWebhooks } from "./steps/webhooks.ts";

/** Each purchase is an invocation, and so is its order at the simulator; the other functions run beside them. */
const concurrencyFor = (purchases: number): number => 2 * purchases + 30;

/** Runs all steps. What was deployed is deleted at the end, also after a failure and an interruption. */
export const runAcceptance = async (
  context: Context,
  place: Place,
  report: (result: StepResult) => void,
  /** Does not end with an interruption. */
  wait: Wait,
): Promise<readonly StepResult[]> => {
  const steps = createSteps(context.signal, report);
  const simulator = await steps.prepare("deploy the simulator", () => deploySimulator(context));
  const stage = simulator && (await steps.prepare("deploy the stage", () => deployStage(context, simulator)));
  const ready = stage && (await steps.prepare("set the secrets", () => setUp(simulator, stage)));
  if (ready) for (const [step, task] of checks(context, place, simulator, stage, ready)) await steps.check(step, task);
  await steps.cleanUp(() => cleanUp(context.stage, wait));
  return steps.results;
};

/** Each is independent: a failure ends none of the others. */
const checks = (
  context: Context,
  { concurrencyMax }: Place,
  simulator: Simulator,
  stage: Stage,
  ready: SetUp,
): readonly (readonly [string, () => Promise<Outcome>])[] => {
  const isEmulator = emulatorEndpoint() !== undefined;
  const buy = async (count: number): Promise<Outcome> => {
    const needed = concurrencyFor(count);
    if (concurrencyMax >= needed) return buySimultaneously(count, simulator, stage, ready);
    return skipped(`the account allows ${concurrencyMax} concurrent executions, and this needs ${needed}`);
  };
  return [
    ["tables", () => checkTables(stage)],
    ["contract suite", () => runContractSuite(stage, ready)],
    ["orders settled by upstream events", () => settleByEvents(stage, ready)],
    ["webhooks to a caller", () => receiveWebhooks(context, simulator, stage, ready)],
    ["20 simultaneous purchases on one wallet", () => buy(20)],
    [
      "100 simultaneous purchases on one wallet",
      async () => (isEmulator ? skipped(emulatorSkips.hundredPurchases) : buy(100)),
    ],
    ["rotation of secrets under purchases", () => rotateSecrets(simulator, stage, ready)],
    ["restore of the ledger", () => restoreLedger(context, stage, ready)],
    [
      "errors, lag and conflicts in CloudWatch",
      async () => (isEmulator ? skipped(emulatorSkips.metrics) : readLagAndConflicts(context, stage)),
    ],
    ["cdk diff", () => compareStacks(context, stage)],
    ["doctor", () => runDoctor(context, stage)],
    ["every alarm notifies", () => raiseAlarms(context, simulator, stage)],
  ];
};
