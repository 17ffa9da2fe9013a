import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { withSection } from "../../tools/markdown/markdown.ts";
import { knownNames, readArguments } from "../../tools/usage/arguments.ts";
import { coldStart } from "./cold-start/cold-start.ts";
import { isShort } from "./extent.ts";
import { growth } from "./growth/growth.ts";
import { memory } from "./memory/memory.ts";
import type { Measured, Part } from "./part.ts";
import { purchase } from "./purchase/purchase.ts";
import { warm } from "./warm/warm.ts";

/** `npm run bench`: measures all parts or the named ones. With --short it only shows that the parts run. */
const parts: Readonly<Record<string, Part>> = { purchase, "cold-start": coldStart, warm, growth, memory };

const lab = fileURLToPath(new URL("..", import.meta.url));
const docs = new URL("../../docs/", import.meta.url);
const usage = [
  "npm run bench -- [part ...] [--short]",
  "",
  "Measures the named parts, or all, and writes their tables to docs/performance.md. --short does everything once, in",
  "about a minute, and writes nothing. The parts:",
  ...Object.entries(parts).map(([name, { description }]) => `  ${name}: ${description}`),
].join("\n");

const report = (line: string): void => void process.stderr.write(`${line}\n`);

const installPeers = (): void => {
  report("Installing the other stacks in lab ...");
  const { status } = spawnSync("npm", ["ci"], { cwd: lab, stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0) throw new Error("npm ci in lab failed: see its output above");
};

/** Prints the results and writes them to docs/performance.md, unless they mean nothing. */
const record = async ({ sections, drawings = {} }: Measured): Promise<void> => {
  const file = new URL("performance.md", docs);
  for (const [name, text] of Object.entries(sections)) {
    report(`\n${text}\n`);
    if (!isShort) writeFileSync(file, await withSection(readFileSync(file, "utf8"), name, () => text, "npm run bench"));
  }
  if (isShort) return;
  for (const [name, svg] of Object.entries(drawings)) writeFileSync(new URL(name, docs), svg);
};

const args = readArguments(usage, (given) => knownNames("part or option", given, [...Object.keys(parts), "--short"]));
const named = Object.entries(parts).filter(([name]) => args.includes(name));
installPeers();
for (const [name, part] of named.length > 0 ? named : Object.entries(parts)) {
  report(`\n${name}: ${part.description}`);
  await record(await part.measure((line) => report(`  ${line}`)));
}
if (!isShort)
  report("The tables are in docs/performance.md; `git checkout docs/performance.*` restores the last ones.");
