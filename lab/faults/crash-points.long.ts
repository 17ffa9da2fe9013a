import { afterAll } from "vitest";
import { sum } from "../../shared/platform/sum.ts";
import { type Count, crashPoints, everything } from "../../test/faults/crash-points.ts";
import { faults } from "../../test/faults/system/effects.ts";
import { chosenSettings } from "../../test/strict/settings.ts";

/** The seed of a printed run repeats it. */
const SEED = Number(process.env.MODEL_SEED ?? Date.now() % 1_000_000_000);

const counts: Count[] = [];
const report = (count: Count): void => {
  counts.push(count);
  const { setting, seed, scenario, effects, unmet } = count;
  console.info(`${setting}, seed ${seed}: ${scenario}: ${effects} effects, ${casesOf(count)} cases, ${unmet} unmet`);
};
crashPoints({ extent: everything, settings: chosenSettings(), seed: SEED, report });

const casesOf = ({ cases }: Count): number => sum([...cases.values()]);
const table = (rows: readonly (readonly (string | number)[])[]): string =>
  rows.map((cells) => `| ${cells.join(" | ")} |`).join("\n");

afterAll(() => {
  for (const [setting, of] of Map.groupBy(counts, ({ setting }) => setting)) {
    const heads = [`scenario (AWS: ${setting})`, "effects", ...faults, "cases", "unmet"];
    const rows = of.map((count) => [
      count.scenario,
      count.effects,
      ...faults.map((fault) => count.cases.get(fault) ?? 0),
      casesOf(count),
      count.unmet,
    ]);
    const sums = heads.slice(1).map((_, column) => sum(rows.map((row) => Number(row[column + 1]))));
    console.info(table([heads, heads.map(() => "---"), ...rows, ["all", ...sums]]));
  }
});
