import { readFileSync } from "node:fs";
import * as z from "zod";
import { startDynamoDbProxy } from "../../../test/builders/dynamodb/dynamodb-proxy.ts";
import { capacityOf } from "../../../test/builders/dynamodb/observe.ts";
import type { Backends } from "../backends.ts";
import type { Bundle } from "../bundle.ts";
import { purchaseEvent, startLambda } from "../lambda-process.ts";
import type { Stack } from "../stacks.ts";

/** The DynamoDB usage of one live purchase, counted on the wire, with a key that was used before. */
export type Counts = Readonly<ReturnType<typeof capacityOf>> & {
  readonly calls: readonly string[];
  readonly logBytes: number;
  readonly answerBytes: number;
};

export const countPurchase = async (stack: Stack, bundle: Bundle, backends: Backends): Promise<Counts> => {
  const proxy = await startDynamoDbProxy(backends.dynamodbEndpoint);
  const logFile = backends.file(`${stack.name}-counted.log`);
  const [key = ""] = await stack.prepare(backends, 1);
  const environment = { ...stack.environment(backends), ...backends.awsEnvironment(proxy.endpoint) };
  const lambda = await startLambda(bundle, environment, logFile);
  try {
    await lambda.invoke([purchaseEvent(key)]);
    proxy.calls.length = 0;
    const logged = readFileSync(logFile).length;
    const { lastAnswer } = await lambda.invoke([purchaseEvent(key)]);
    return {
      calls: proxy.calls.map(({ operation }) => operation),
      ...capacityOf(proxy.calls),
      logBytes: readFileSync(logFile).length - logged,
      answerBytes: bytesOf(answered.parse(lastAnswer)),
    };
  } finally {
    await lambda.stop();
    await proxy.stop();
  }
};

const answered = z.object({ headers: z.record(z.string(), z.unknown()).default({}), body: z.string() });

/** The size of headers and body. */
const bytesOf = ({ headers, body }: z.output<typeof answered>): number =>
  Object.entries(headers).reduce((total, [name, value]) => total + name.length + String(value).length + 4, 0) +
  Buffer.byteLength(body);
