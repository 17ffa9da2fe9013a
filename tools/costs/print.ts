import { readArguments } from "../usage/arguments.ts";
import { usage } from "../usage/usage.ts";
import {
  assumptions,
  floodCostTable,
  frontCostTable,
  priceTable,
  recoveryCostTable,
  requestCostTable,
  restCostTable,
} from "./tables.ts";

/** `npm run costs`: prints what the service costs on AWS. */
readArguments(usage.costs, (args) => {
  if (args.length > 0) throw new Error("The command takes no options.");
});
console.log(
  [
    ...[requestCostTable(), assumptions(), frontCostTable(), floodCostTable()],
    ...[restCostTable(), recoveryCostTable(), priceTable()],
  ].join("\n\n"),
);
