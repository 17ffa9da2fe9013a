import { afterAll } from "vitest";
import { type Count, crashPoints, everything } from "../crash-points.ts";
import { faults } from "../world/effects.ts";

const counts: Count[] = [];
crashPoints(everything, (count) => {
  counts.push(count);
  console.info(`${count.scenario}: ${count.effects} effects, ${sumOf(count)} cases`);
});

const sumOf = ({ cases }: Count): number => [...cases.values()].reduce((total, count) => total + count, 0);

afterAll(() => {
  const heads = ["scenario", "effects", ...faults, "cases"];
  const rows = counts.map((count) => [
    count.scenario,
    count.effects,
    ...faults.map((fault) => count.cases.get(fault) ?? 0),
    sumOf(count),
  ]);
  const sums = heads.slice(1).map((_, column) => rows.reduce((total, row) => total + Number(row[column + 1]), 0));
  const lines = [heads, heads.map(() => "---"), ...rows, ["all", ...sums]];
  console.info(lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n"));
});
