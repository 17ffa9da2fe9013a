import { onlyOption, readArguments } from "../usage/arguments.ts";
import { usage } from "../usage/usage.ts";
import { frontCosts, requestCosts, restCosts } from "./costs.ts";
import { floodCosts } from "./floods.ts";
import { prices } from "./prices.ts";
import { recoveryCosts } from "./recovery.ts";
import { assumed } from "./request-usage.ts";
import {
  assumptions,
  floodCostTable,
  frontCostTable,
  priceTable,
  recoveryCostTable,
  requestCostTable,
  restCostTable,
} from "./tables.ts";

/** `npm run costs`: prints what the service costs on AWS, as tables or with --json as data. */
const option = readArguments(usage.costs, (args) => onlyOption(args, "--json"));
if (option === "--json") {
  console.log(
    JSON.stringify(
      {
        requests: requestCosts(),
        fronts: frontCosts(),
        floods: floodCosts(),
        atRest: restCosts(),
        recovery: recoveryCosts(),
        assumed,
        prices,
      },
      undefined,
      2,
    ),
  );
} else {
  console.log(
    [
      ...[requestCostTable(), assumptions(), frontCostTable(), floodCostTable()],
      ...[restCostTable(), recoveryCostTable(), priceTable()],
    ].join("\n\n"),
  );
}
