import { setInterval } from "node:timers";
import { expect, onTestFinished, test } from "vitest";
import { runOnSystem } from "./model/model.ts";

/** Goal: what the tests of faults find, their seed finds again, on every machine and beside any other work. */
const STEPS_MAX = 10;
/** The process runs at most this long, and then stalls, as it does beside other work. */
const RUNS_MS = 20;
const STALLS_MS_MAX = 40;
/** Not the system's, whose draws follow from the seed. */
const { random } = Math;

/** Has the process stall again and again, until the returned function is called. */
const stall = (): (() => void) => {
  const never = new Int32Array(new SharedArrayBuffer(4));
  const timer = setInterval(() => Atomics.wait(never, 0, 0, random() * STALLS_MS_MAX), RUNS_MS);
  return () => clearInterval(timer);
};

test("a run of the model depends on its seed alone: in a process that stalls it has the same course", async () => {
  const seed = Date.now() % 1_000_000_000;
  const run = (of = seed) => runOnSystem(of, () => "everything", STEPS_MAX);
  const first = await run();
  const endStalls = stall();
  onTestFinished(endStalls);
  expect(await run(), `seed ${seed}`).toEqual(first);
  endStalls();
  expect((await run(seed + 1)).trace).not.toBe(first.trace);
});
