import { AcceptanceError, type Outcome } from "./outcome.ts";

/** The result of one step, as `--json` prints it. */
export type StepResult = {
  readonly step: string;
  readonly state: "ok" | "failed" | "skipped" | "interrupted";
  readonly found: string;
  readonly duration_s: number;
};

type Task<Result> = () => Promise<Result>;

/** Runs steps, and reports the result of each. A step that fails ends no other one. */
export const createSteps = (signal: AbortSignal, report: (result: StepResult) => void) => {
  const results: StepResult[] = [];
  const add = (result: StepResult): void => {
    results.push(result);
    report(result);
  };
  const run = async <Result>(
    step: string,
    task: Task<Result>,
    resultOf: { readonly ok: (result: Result) => Outcome; readonly failed: (error: unknown) => StepEnd },
  ): Promise<Result | undefined> => {
    const startedMs = Date.now();
    const end = (stepEnd: StepEnd): void =>
      add({ step, ...stepEnd, duration_s: Math.round((Date.now() - startedMs) / 100) / 10 });
    try {
      const result = await task();
      const outcome = resultOf.ok(result);
      end("found" in outcome ? { state: "ok", ...outcome } : { state: "skipped", found: outcome.skipped });
      return result;
    } catch (error) {
      end(resultOf.failed(error));
      return undefined;
    }
  };
  const failed = (error: unknown): StepEnd =>
    signal.aborted ? { state: "interrupted", found: "interrupted" } : { state: "failed", found: sentenceOf(error) };
  return {
    results,
    /** A step that all later ones need: undefined if it failed. */
    prepare: <Result>(step: string, task: Task<Result>) => run(step, task, { ok: () => ({ found: "done" }), failed }),
    /** After an interruption the step does not run, and is reported: a run that left it out has accepted nothing. */
    check: async (step: string, task: Task<Outcome>): Promise<void> => {
      if (signal.aborted) add({ step, state: "interrupted", found: "did not run", duration_s: 0 });
      else await run(step, task, { ok: (outcome) => outcome, failed });
    },
    /** Runs after an interruption too, which is no reason for it to fail. */
    cleanUp: async (task: Task<Outcome>): Promise<void> => {
      const leaves = (error: unknown): StepEnd => ({
        state: "failed",
        found: `${sentenceOf(error).replace(/\.$/, "")}. ${LEFT}`,
      });
      await run(CLEAN_UP, task, { ok: (outcome) => outcome, failed: leaves });
    },
  };
};

type StepEnd = Pick<StepResult, "state" | "found">;

const CLEAN_UP = "clean up";
const LEFT = "What is left costs money: run the same command with --clean-up, which deletes it";

export const isAccepted = (results: readonly StepResult[]): boolean =>
  results.every(({ state }) => state === "ok" || state === "skipped");

/** The exit codes of docs/acceptance.md: 130 promises that everything was deleted. */
export const exitCodeOf = (results: readonly StepResult[], isInterrupted: boolean): number => {
  if (results.some(({ step, state }) => step === CLEAN_UP && state === "failed")) return 1;
  if (isInterrupted) return 130;
  return isAccepted(results) ? 0 : 1;
};

const sentenceOf = (error: unknown): string => {
  if (error instanceof AcceptanceError) return error.message;
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
};
