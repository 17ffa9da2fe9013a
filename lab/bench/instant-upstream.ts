import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import * as z from "zod";
import { reportTo } from "./server-report.ts";

/**
 * An upstream that delivers at once, so that only the servers' own work is measured. Source: docs/interface.md 10.3.
 */
let orders = 0;
const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
  await text(request);
  orders += 1;
  const transaction = { reference: `DATA_${orders}`, status: "success", amount: 500 };
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ status: true, message: "Data purchase", data: { transaction } }));
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
reportTo(z.object({ port: z.number() }).parse(server.address()).port);
