import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { withSection } from "../../tools/docs/markdown.ts";
import { coldStart } from "./cold-start/cold-start.ts";
import { growth } from "./growth/growth.ts";
import type { Measured, Part } from "./part.ts";
import { purchase } from "./purchase/purchase.ts";
import { warm } from "./warm/warm.ts";

/** `npm run bench`: all parts, or those that are named; `--json` prints the figures, and nothing else, to stdout. */
const parts: Readonly<Record<string, Part>> = { purchase, "cold-start": coldStart, warm, growth };

const here = fileURLToPath(new URL(".", import.meta.url));
const docs = new URL("../../docs/", import.meta.url);
const say = (line: string): void => void process.stderr.write(`${line}\n`);

const installPeers = (): void => {
  say("Installing the stacks to compare with, in test/bench ...");
  const { status } = spawnSync("npm", ["ci"], { cwd: here, stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0) throw new Error("npm ci in test/bench has failed: its own words are above");
};

/** Prints what was measured, and writes it where docs/performance.md shows it. */
const record = async ({ sections, drawings = {} }: Measured): Promise<void> => {
  const file = new URL("performance.md", docs);
  for (const [name, text] of Object.entries(sections)) {
    say(`\n${text}\n`);
    writeFileSync(file, await withSection(readFileSync(file, "utf8"), name, () => text, "npm run bench"));
  }
  for (const [name, svg] of Object.entries(drawings)) writeFileSync(new URL(name, docs), svg);
};

const asked = process.argv.slice(2);
const isJson = asked.includes("--json");
const named = asked.filter((word) => word !== "--json");
const unknown = named.filter((name) => !(name in parts));
if (unknown.length > 0) {
  say(
    `There is no part ${unknown.join(", ")}. The parts are ${Object.keys(parts).join(", ")}; --json is the only option.`,
  );
  process.exitCode = 1;
} else {
  installPeers();
  const figures: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(parts)) {
    if (named.length > 0 && !named.includes(name)) continue;
    say(`\n${name}: ${part.says}`);
    const measured = await part.measure((line) => say(`  ${line}`));
    await record(measured);
    figures[name] = measured.figures;
  }
  say("docs/performance.md has these tables now.");
  if (isJson) console.log(JSON.stringify(figures, undefined, 2));
}
