import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { MINUTE_MS } from "../../shared/contract/values/durations.ts";
import { listenOnLoopback } from "../../tools/local/loopback.ts";
import { reportTo } from "./server-report.ts";

/**
 * An upstream that delivers at once, so that only the servers' own work is measured. Source: docs/interface.md 10.3.
 */
let orders = 0;
const server = createServer({ keepAliveTimeout: MINUTE_MS }, async (request, response) => {
  await text(request);
  orders += 1;
  const transaction = { reference: `DATA_${orders}`, status: "success", amount: 500 };
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ status: true, message: "Data purchase", data: { transaction } }));
});
reportTo(await listenOnLoopback(server));
