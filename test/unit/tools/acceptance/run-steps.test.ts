import { expect, test } from "vitest";
import { AcceptanceError, found, skipped } from "../../../../tools/acceptance/outcome.ts";
import { createSteps, exitCodeOf, isAccepted, type StepResult } from "../../../../tools/acceptance/run-steps.ts";

/** Goal: a run never says that it accepted what it did not try, or deleted what may be left. */

const start = () => {
  const interruption = new AbortController();
  const reported: StepResult[] = [];
  const steps = createSteps(interruption.signal, (result) => reported.push(result));
  const outcome = () => ({
    lines: reported.map(({ step, state, found }) => `${state} ${step}: ${found}`),
    isAccepted: isAccepted(steps.results),
    exitCode: exitCodeOf(steps.results, interruption.signal.aborted),
  });
  return { ...steps, interrupt: () => interruption.abort(), outcome };
};

test("a run whose steps are ok or skipped is accepted", async () => {
  const { prepare, check, cleanUp, outcome } = start();
  expect(await prepare("deploy", async () => "deployed")).toBe("deployed");
  await check("one", async () => found("all of it"));
  await check("two", async () => skipped("not here"));
  await cleanUp(async () => found("deleted"));
  expect(outcome()).toEqual({
    lines: ["ok deploy: done", "ok one: all of it", "skipped two: not here", "ok clean up: deleted"],
    isAccepted: true,
    exitCode: 0,
  });
});

test("a step that fails ends no other one, and the run with 1", async () => {
  const { prepare, check, cleanUp, outcome } = start();
  expect(await prepare("deploy", () => Promise.reject(new AcceptanceError("no such stack")))).toBeUndefined();
  await check("one", () => Promise.reject(new TypeError("fetch failed")));
  await check("two", async () => found("fine"));
  await cleanUp(async () => found("deleted"));
  expect(outcome()).toEqual({
    lines: [
      "failed deploy: no such stack",
      "failed one: TypeError: fetch failed",
      "ok two: fine",
      "ok clean up: deleted",
    ],
    isAccepted: false,
    exitCode: 1,
  });
});

test("a run that is interrupted in a step which still ends well is not accepted: the steps after it did not run", async () => {
  const { check, cleanUp, interrupt, outcome } = start();
  await check("one", async () => {
    interrupt();
    return found("fine");
  });
  await check("two", async () => found("never"));
  await cleanUp(async () => found("deleted"));
  expect(outcome()).toEqual({
    lines: ["ok one: fine", "interrupted two: did not run", "ok clean up: deleted"],
    isAccepted: false,
    exitCode: 130,
  });
});

test("a clean-up that fails after an interruption says what failed and what to do, and the run does not end with 130", async () => {
  const { check, cleanUp, interrupt, outcome } = start();
  await check("one", async () => {
    interrupt();
    throw new Error("aborted");
  });
  await cleanUp(() => Promise.reject(new Error("The security token included in the request is expired.")));
  expect(outcome()).toEqual({
    lines: [
      "interrupted one: interrupted",
      "failed clean up: Error: The security token included in the request is expired. What is left costs money: run the same command with --clean-up, which deletes it",
    ],
    isAccepted: false,
    exitCode: 1,
  });
});
