import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Mutant, mutants, mutatedFiles } from "./mutants.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const TESTS = ["test/faults/crash-points.test.ts", "test/faults/model.test.ts"];

/** Runs the tests on a copy of the tree with the mutant. Returns the first test that fails, or undefined. */
const findKiller = (mutant: Mutant): string | undefined => {
  const copy = mkdtempSync(join(tmpdir(), "mutant-"));
  try {
    const tracked = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).trim().split("\n");
    for (const file of tracked) cpSync(join(root, file), join(copy, file));
    symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
    for (const [file, text] of mutatedFiles(mutant, root)) writeFileSync(join(copy, file), text);
    const vitest = join(root, "node_modules", ".bin", "vitest");
    const { status, stdout, stderr } = spawnSync(vitest, ["run", "--bail=1", ...TESTS], {
      cwd: copy,
      encoding: "utf8",
      env: { ...process.env, NO_COLOR: "1", CRASH_POINTS_EVERY: "1", MODEL_STEPS: "1500" },
    });
    const output = `${stdout}${stderr}`;
    const isKilled = status !== 0 && /[1-9]\d* failed/.test(output);
    return isKilled ? (output.match(/(?<=FAIL +).+/)?.[0] ?? "an unnamed test") : undefined;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
};

/** All mutants, or those whose name has the given words. */
const [words = ""] = process.argv.slice(2);
const chosen = mutants.filter(({ name }) => name.includes(words));
if (chosen.length === 0) throw new Error(`No mutant's name has "${words}"`);
let survivors = 0;
for (const mutant of chosen) {
  console.log(`Seeding: ${mutant.name}`);
  const killer = findKiller(mutant);
  console.log(killer === undefined ? "  NOT KILLED" : `  killed by ${killer}`);
  if (killer === undefined) survivors += 1;
}
console.log(`${chosen.length - survivors} of ${chosen.length} seeded mutants were killed`);
process.exitCode = survivors === 0 ? 0 : 1;
