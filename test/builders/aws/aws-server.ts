import type { Server } from "node:http";
import { afterAll, beforeAll } from "vitest";
import { localAwsEnvironment, setEnvironment } from "../../../tools/local/local-aws.ts";
import { listenOnLoopback } from "../../../tools/local/loopback.ts";

/** Sends the calls of every AWS client to this server, with these variables besides, for the tests of the importing file. */
export const callAwsAt = (server: Server, environment: Readonly<Record<string, string>> = {}): void => {
  let restore = (): void => {};
  beforeAll(async () => {
    const port = await listenOnLoopback(server);
    const at = `http://127.0.0.1:${port}`;
    restore = setEnvironment({
      ...localAwsEnvironment({ dynamodb: at, sqs: at, secretsManager: at }),
      AWS_CALLS: undefined,
      AWS_ENDPOINT_URL_S3: at,
      ...environment,
    });
  });
  afterAll(() => {
    restore();
    server.closeAllConnections();
    server.close();
  });
};
