import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:https";
import { afterAll, expect, test } from "vitest";
import { openDynamoDb, openSqs } from "../../../../shared/platform/aws/sdk.ts";
import { documentClient, secretsClient } from "../../../../shared/platform/aws-clients.ts";
import { sleep } from "../../../../shared/platform/time.ts";
import { localAwsEnvironment, setEnvironment } from "../../../../tools/local/local-aws.ts";
import { listenOnLoopback } from "../../../../tools/local/loopback.ts";
import { selfSigned } from "../../../builders/network/self-signed.ts";
import { startTcpProxy } from "../../../builders/network/tcp-proxy.ts";
import { ownTlsContexts } from "../../../builders/network/tls-trust.ts";

/**
 * Goal: a function that was frozen serves its next invocation, whatever became of its connections. Method: a server behind
 * a proxy that drops connections between two calls of each client that the functions have.
 */
const server = createHttpServer((_request, response) => {
  setTimeout(() => response.end("{}"), 20);
});
const proxy = await startTcpProxy(`http://127.0.0.1:${await listenOnLoopback(server)}`);
const { endpoint } = proxy;
const restore = setEnvironment(localAwsEnvironment({ dynamodb: endpoint, sqs: endpoint, secretsManager: endpoint }));
afterAll(async () => {
  restore();
  await proxy.stop();
  server.close().closeAllConnections();
});

/** How the process wakes up: its sockets are read before it works, or only after its work has written to them. */
const wakeUps = { "reads its sockets first": () => sleep(30), "works first": async () => {} } as const;
const effects = (["fin", "rst", "forgotten"] as const).flatMap((effect) =>
  (["reads its sockets first", "works first"] as const).map((wakeUp) => [effect, wakeUp] as const),
);

const clients: Readonly<Record<string, () => () => Promise<unknown>>> = {
  "DynamoDB by the short path": () => {
    const db = documentClient();
    return () => db.update({ TableName: "cache", Key: { pk: "frozen" } });
  },
  "DynamoDB by the SDK": () => {
    const db = openDynamoDb();
    return () => db.get({ TableName: "cache", Key: { pk: "frozen" } });
  },
  SQS: () => {
    const sqs = openSqs();
    return () => sqs.getQueueUrl({ QueueName: "delivery" });
  },
  "Secrets Manager": () => {
    const secrets = secretsClient();
    return () => secrets.getSecretValue({ SecretId: "reference-key" });
  },
};
const cases = Object.entries(clients).flatMap(([name, open]) =>
  // A swallowed byte costs the 2 s of a time-out.
  [...effects, ["swallowed", "works first"] as const].map(([effect, wakeUp]) => [name, effect, wakeUp, open] as const),
);

test.each(cases)(
  "a call of %s succeeds after a freeze that ends five idle connections (%s) if the process %s",
  async (_name, effect, wakeUp, open) => {
    const { connections, drop } = proxy;
    drop("rst");
    const call = open();
    await call();
    await Promise.all(Array.from({ length: 5 }, call));
    // At least: a busy machine may have made more.
    expect(connections()).toBeGreaterThanOrEqual(5);
    drop(effect);
    await wakeUps[wakeUp]();
    // More connections were idle than a call has attempts.
    await call();
  },
);

test("a call over TLS succeeds after a freeze in which two idle connections were forgotten", async () => {
  const server = createServer(selfSigned(), (_request, response) => {
    setTimeout(() => response.end("{}"), 20);
  });
  const port = await listenOnLoopback(server);
  const proxy = await startTcpProxy(`http://127.0.0.1:${port}`);
  const back = setEnvironment({
    AWS_ENDPOINT_URL_SECRETS_MANAGER: proxy.endpoint.replace("http:", "https:"),
    NODE_TLS_REJECT_UNAUTHORIZED: "0",
  });
  try {
    const secrets = secretsClient();
    const call = () => secrets.getSecretValue({ SecretId: "reference-key" });
    const own = ownTlsContexts();
    await Promise.all([call(), call()]);
    expect(proxy.connections()).toBeGreaterThanOrEqual(2);
    expect(own).not.toHaveBeenCalled();
    proxy.drop("forgotten");
    await call();
  } finally {
    back();
    await proxy.stop();
    server.close().closeAllConnections();
  }
});
