import { afterAll, afterEach } from "vitest";
import { type DynamoDbProxy, startDynamoDbProxy } from "./dynamodb-proxy.ts";
import { dynamodbEndpoint } from "./emulator.ts";

/** One before the emulator for the tests of the importing file: a fault ends with its test. */
export const proxyForTests = async (): Promise<DynamoDbProxy> => {
  const proxy = await startDynamoDbProxy(dynamodbEndpoint);
  afterEach(() => {
    proxy.fault = () => undefined;
  });
  afterAll(() => proxy.stop());
  return proxy;
};
