import { expect, test } from "vitest";
import { DAY_MS } from "../../shared/contract/values/durations.ts";
import { runModel, totalOf } from "../../test/faults/model/model.ts";

/** Each part is a file, and so its own process: reloaded modules stay in memory until the process ends. */
const PARTS = ["a", "b", "c", "d"] as const;
const STEPS = Number(process.env.MODEL_STEPS ?? 1_000_000) / PARTS.length;
/** The seed of a printed run repeats it. */
const SEED = Number(process.env.MODEL_SEED ?? Date.now() % 1_000_000_000);
/** So that the parts do not run the same programs. */
const SEEDS_APART = 1_000_000;

const HEADS = ["AWS", "steps", "interventions", "live purchases", "of these waited", "sent", "refunded"];

/** A part of the long run. */
export const longModel = (part: (typeof PARTS)[number]): void => {
  test(`${STEPS} steps of random programs leave two accounts as expected (${part})`, {
    timeout: DAY_MS,
  }, async () => {
    const seed = SEED + PARTS.indexOf(part) * SEEDS_APART;
    const run = await runModel(STEPS, seed, ({ steps, programs }) => {
      console.info(`model ${part}: ${steps} of ${STEPS} steps in ${programs} programs, seed ${seed}`);
    });
    const rows = [...run.bySetting].map(
      ([setting, { steps, interventions, purchases, waited, sent, refunded }]) =>
        `| ${[setting, steps, interventions, purchases, waited, sent, refunded].join(" | ")} |`,
    );
    console.info(`model ${part}: ${run.steps} steps without a violation, seed ${seed}`);
    console.info([`| ${HEADS.join(" | ")} |`, `|${" --- |".repeat(HEADS.length)}`, ...rows].join("\n"));
    expect(run.steps).toBeGreaterThanOrEqual(STEPS);
    expect(totalOf(run).waited).toBeGreaterThan(0);
  });
};
