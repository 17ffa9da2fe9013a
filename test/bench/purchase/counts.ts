import { readFileSync } from "node:fs";
import { startDynamoDbProxy } from "../../builders/dynamodb-proxy.ts";
import { capacityOf } from "../../builders/observe.ts";
import { BUY_DATA } from "../../builders/service.ts";
import { until } from "../../builders/until.ts";
import { createClient, orderRequest } from "../../load/client.ts";
import type { Backends } from "../backends.ts";
import { startServer } from "../server-process.ts";
import type { Stack } from "../stacks.ts";
import { aNewOrder, assertDelivered } from "./slice.ts";

/** The DynamoDB usage of one live purchase, counted on the wire, with a key that was used before. */
export type Counts = Readonly<ReturnType<typeof capacityOf>> & {
  readonly calls: readonly string[];
  readonly logBytes: number;
  readonly answerBytes: number;
};

export const countPurchase = async (stack: Stack, backends: Backends): Promise<Counts> => {
  const proxy = await startDynamoDbProxy(backends.dynamodbEndpoint);
  const logFile = backends.file(`${stack.name}-counted.log`);
  const environment = { ...stack.environment("live", backends), ...backends.awsEnvironment(proxy.endpoint) };
  const server = await startServer(stack.command, environment, logFile);
  const client = createClient(`${server.origin}/v1`);
  try {
    const [key = ""] = await stack.prepare(backends, "live", 1);
    assertDelivered(await client.send(orderRequest(BUY_DATA, key, aNewOrder())));
    // The line may be written after the response.
    const inLog = { timeoutMs: 2_000, everyMs: 10 };
    await until("a line in the log", () => readFileSync(logFile).length > 0, inLog);
    proxy.calls.length = 0;
    const logged = readFileSync(logFile).length;
    const reply = await client.send(orderRequest(BUY_DATA, key, aNewOrder()));
    assertDelivered(reply);
    await until("a line in the log", () => readFileSync(logFile).length > logged, inLog);
    return {
      calls: proxy.calls.map(({ operation }) => operation),
      ...capacityOf(proxy.calls),
      logBytes: readFileSync(logFile).length - logged,
      answerBytes: reply.kind === "answered" ? bytesOf(reply) : 0,
    };
  } finally {
    client.close();
    await server.stop();
    await proxy.stop();
  }
};

/** The size of headers and body. */
const bytesOf = ({ headers, text }: { readonly headers: object; readonly text: string }): number =>
  Object.entries(headers).reduce((total, [name, value]) => total + name.length + String(value).length + 4, 0) +
  Buffer.byteLength(text);
