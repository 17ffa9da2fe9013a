import { readFileSync, writeFileSync } from "node:fs";
import { docsUrl } from "../../tools/docs/sections.ts";
import { withSection } from "../../tools/markdown/markdown.ts";
import { simulate } from "../../tools/scale/load-model.ts";
import {
  answer,
  assumptionList,
  firstLimitTable,
  limitTable,
  loadCostTable,
  loadTable,
  remedyTable,
} from "../../tools/scale/tables.ts";
import { onlyOption, readArguments } from "../../tools/usage/arguments.ts";

const HOUR_LOAD = { purchasesPerS: 2_000, seconds: 3_600 };

/**
 * `npm run scale`: prints which limit is reached at which load. With --hour it carries an hour's load through simulated
 * partitions, in some minutes, and writes their table to docs/scale.md.
 */
const option = readArguments("npm run scale -- [--hour]", (args) => onlyOption(args, "--hour"));
if (option === "--hour") {
  const { purchasesPerS, seconds } = HOUR_LOAD;
  const table = loadTable(await simulate(purchasesPerS, seconds), seconds);
  console.log(table);
  const file = docsUrl("scale.md");
  writeFileSync(file, await withSection(readFileSync(file, "utf8"), "hour", () => table, "npm run scale -- --hour"));
} else {
  console.log(
    [answer(), firstLimitTable(), limitTable(), remedyTable(), loadCostTable(), assumptionList()].join("\n\n"),
  );
}
