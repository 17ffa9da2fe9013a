import { spawn } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { runOnSystem } from "./model/model.ts";

/** Goal: what the tests of faults find, their seed finds again, on every machine and beside any other work. */
const STEPS_MAX = 10;
const BUSY_LOOPS = 2;
/** A loop ends then, even if nobody ends it. */
const BUSY_MS = 120_000;

/** Returns what ends the loops. */
const keepMachineBusy = (): (() => void) => {
  const loop = `const end = Date.now() + ${BUSY_MS}; while (Date.now() < end);`;
  const loops = Array.from({ length: BUSY_LOOPS }, () => spawn(process.execPath, ["-e", loop], { stdio: "ignore" }));
  return () => void loops.map((child) => child.kill("SIGKILL"));
};

test("a run of the model depends on its seed alone: beside busy loops it has the same course", {
  timeout: 600_000,
}, async () => {
  const seed = Date.now() % 1_000_000_000;
  const run = (of = seed) => runOnSystem(of, () => "everything", STEPS_MAX);
  const first = await run();
  const endLoops = keepMachineBusy();
  onTestFinished(endLoops);
  expect(await run(), `seed ${seed}`).toEqual(first);
  endLoops();
  expect((await run(seed + 1)).trace).not.toBe(first.trace);
});
