import { cells, limitLoads, loads, monthlyDollars } from "../../tools/scale/limit-loads.ts";
import {
  answer,
  assumptionList,
  firstLimitTable,
  limitTable,
  loadCostTable,
  remedyTable,
  settings,
} from "../../tools/scale/tables.ts";

/** `npm run scale`: prints which limit is reached at which load, as tables or with --json as data. */
const [option, ...others] = process.argv.slice(2);
if (others.length > 0 || (option !== undefined && option !== "--json")) {
  process.stderr.write("The only option is --json: npm run scale -- --json.\n");
  process.exitCode = 1;
} else if (option === "--json") {
  const costs = loads.map((purchasesPerS) => ({ purchasesPerS, monthlyDollars: monthlyDollars(purchasesPerS) }));
  console.log(JSON.stringify({ first: cells(settings), limits: limitLoads(settings), costs }, undefined, 2));
} else {
  console.log(
    [answer(), firstLimitTable(), limitTable(), remedyTable(), loadCostTable(), assumptionList()].join("\n\n"),
  );
}
