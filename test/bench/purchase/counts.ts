import { readFileSync } from "node:fs";
import { startDynamoDbProxy } from "../../builders/dynamodb-proxy.ts";
import { until } from "../../builders/until.ts";
import { newClient, order } from "../../load/client.ts";
import { startServer } from "../server-process.ts";
import type { Stack } from "../stacks.ts";
import type { Surroundings } from "../surroundings.ts";
import { anOrder, assertDelivered, PURCHASE_PATH } from "./slice.ts";

/** What one live purchase takes of DynamoDB, as it went over the wire, with a key that was used before. */
export type Counts = {
  readonly calls: readonly string[];
  readonly tableWriteUnits: number;
  readonly indexWriteUnits: number;
  /** Of writes whose condition did not hold: AWS charges for them too, and the emulator does not say how much. One each, here. */
  readonly refusedWriteUnits: number;
  readonly readUnits: number;
  readonly logBytes: number;
  readonly answerBytes: number;
};

const READS: readonly string[] = ["GetItem", "Query", "BatchGetItem"];

export const countPurchase = async (stack: Stack, around: Surroundings): Promise<Counts> => {
  const proxy = await startDynamoDbProxy(around.dynamodbEndpoint);
  const logFile = around.file(`${stack.name}-counted.log`);
  const environment = { ...stack.environment("live", around), ...around.awsEnvironment(proxy.endpoint) };
  const server = await startServer(stack.command, environment, logFile);
  const client = newClient(`${server.origin}/v1`);
  try {
    const [key = ""] = await stack.prepare(around, "live", 1);
    assertDelivered(await client.send(order(PURCHASE_PATH, key, anOrder())));
    // A line may be written after its answer.
    const inLog = { patience_ms: 2_000, every_ms: 10 };
    await until("a line in the log", () => readFileSync(logFile).length > 0, inLog);
    proxy.calls.length = 0;
    const logged = readFileSync(logFile).length;
    const reply = await client.send(order(PURCHASE_PATH, key, anOrder()));
    assertDelivered(reply);
    await until("a line in the log", () => readFileSync(logFile).length > logged, inLog);
    const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
    const writes = proxy.calls.filter(({ operation }) => !READS.includes(operation));
    const reads = proxy.calls.filter(({ operation }) => READS.includes(operation));
    return {
      calls: proxy.calls.map(({ operation }) => operation),
      tableWriteUnits: sum(writes.map(({ tableUnits }) => tableUnits)),
      indexWriteUnits: sum(writes.map(({ indexUnits }) => indexUnits)),
      refusedWriteUnits: writes.filter(({ tableUnits }) => tableUnits === 0).length,
      readUnits: sum(reads.map(({ tableUnits, indexUnits }) => tableUnits + indexUnits)),
      logBytes: readFileSync(logFile).length - logged,
      answerBytes: reply.kind === "answered" ? bytesOf(reply) : 0,
    };
  } finally {
    client.close();
    await server.stop();
    await proxy.stop();
  }
};

/** Head and body, as they are written. */
const bytesOf = ({ headers, text }: { readonly headers: object; readonly text: string }): number =>
  Object.entries(headers).reduce((total, [name, value]) => total + name.length + String(value).length + 4, 0) +
  Buffer.byteLength(text);
