import { doorCosts, requestCosts, restCosts } from "./costs.ts";
import { prices } from "./prices.ts";
import { recoveryCosts } from "./recovery.ts";
import { assumed } from "./request-usage.ts";
import {
  assumptions,
  doorCostTable,
  priceTable,
  recoveryCostTable,
  requestCostTable,
  restCostTable,
} from "./tables.ts";

/** `npm run costs`: prints what the service costs on AWS, as tables or with --json as data. */
const [option, ...others] = process.argv.slice(2);
if (others.length > 0 || (option !== undefined && option !== "--json")) {
  process.stderr.write("The only option is --json: npm run costs -- --json.\n");
  process.exitCode = 1;
} else if (option === "--json") {
  console.log(
    JSON.stringify(
      { requests: requestCosts(), doors: doorCosts(), atRest: restCosts(), recovery: recoveryCosts(), assumed, prices },
      undefined,
      2,
    ),
  );
} else {
  console.log(
    [requestCostTable(), assumptions(), doorCostTable(), restCostTable(), recoveryCostTable(), priceTable()].join(
      "\n\n",
    ),
  );
}
