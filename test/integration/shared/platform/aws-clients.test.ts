import { createServer } from "node:https";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "#zod";
import { openDynamoDb, openSqs } from "../../../../shared/platform/aws/sdk.ts";
import { documentClient, secretsClient } from "../../../../shared/platform/aws-clients.ts";
import { sleep } from "../../../../shared/platform/time.ts";
import { loadFunctions } from "../../../../tools/local/functions.ts";
import { localAwsEnvironment, setEnvironment } from "../../../../tools/local/local-aws.ts";
import { listenOnLoopback } from "../../../../tools/local/loopback.ts";
import { localTableNames } from "../../../../tools/local/tables.ts";
import { anApiEvent } from "../../../builders/api-event.ts";
import { selfSigned } from "../../../builders/self-signed.ts";
import { anOrder, BUY_DATA, startTestService, type TestCaller, type TestService } from "../../../builders/service.ts";
import { type FreezeEffect, startTcpProxy, type TcpProxy } from "../../../builders/tcp-proxy.ts";

/**
 * Goal: a function that was frozen serves its next invocation, whatever became of its connections. Method: the real
 * handlers, with a proxy before each part of AWS that drops their connections between two invocations.
 */
const FUNCTIONS = new URL("../../../../functions/", import.meta.url);
let service: TestService;
let proxies: { readonly dynamodb: TcpProxy; readonly sqs: TcpProxy; readonly secretsManager: TcpProxy };
let restore = (): void => {};
let caller: TestCaller;
beforeAll(async () => {
  service = await startTestService();
  const proxyOf = (variable: string) => startTcpProxy(z.string().parse(process.env[variable]));
  proxies = {
    dynamodb: await proxyOf("AWS_ENDPOINT_URL_DYNAMODB"),
    sqs: await proxyOf("AWS_ENDPOINT_URL_SQS"),
    secretsManager: await proxyOf("AWS_ENDPOINT_URL_SECRETS_MANAGER"),
  };
  restore = setEnvironment(
    localAwsEnvironment({
      dynamodb: proxies.dynamodb.endpoint,
      sqs: proxies.sqs.endpoint,
      secretsManager: proxies.secretsManager.endpoint,
    }),
  );
  caller = await service.newCaller({ naira: 100_000 });
});
afterAll(async () => {
  restore();
  await service.stop();
  await Promise.all(Object.values(proxies).map(({ stop }) => stop()));
});

/** How the process wakes up: its sockets are read before it works, or only after its work has written to them. */
const wakeUps = { "reads its sockets first": () => sleep(30), "works first": async () => {} } as const;
type WakeUp = keyof typeof wakeUps;
const effects = (["fin", "rst", "forgotten"] as const).flatMap((effect) =>
  (["reads its sockets first", "works first"] as const).map((wakeUp): [FreezeEffect, WakeUp] => [effect, wakeUp]),
);
/** A swallowed byte costs the 2 s of a time-out. */
const slowEffects: readonly [FreezeEffect, WakeUp][] = [...effects, ["swallowed", "works first"]];

const answer = z.object({ statusCode: z.number() });

test.each(effects)(
  "a purchase after a freeze that ends all connections (%s) is answered with 200 if the process %s",
  async (effect, wakeUp) => {
    const invoke = await loadFunctions(["purchase"], FUNCTIONS);
    const buy = async () => {
      const event = anApiEvent({
        method: "POST",
        path: `/v1${BUY_DATA}`,
        headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/json" },
        body: JSON.stringify(anOrder()),
        sourceIp: "127.0.0.1",
      });
      return answer.parse(await invoke("purchase", event)).statusCode;
    };
    expect(proxies.dynamodb.connections()).toBeGreaterThanOrEqual(2);
    for (const { drop } of Object.values(proxies)) drop(effect);
    await wakeUps[wakeUp]();
    expect(await buy()).toBe(200);

    for (const { drop } of Object.values(proxies)) drop(effect);
    await wakeUps[wakeUp]();
    expect(await buy()).toBe(200);
  },
);

const key = { pk: "frozen" };
const clients: Readonly<
  Record<string, { readonly proxy: keyof typeof proxies; readonly open: () => () => Promise<unknown> }>
> = {
  "DynamoDB by the short path": {
    proxy: "dynamodb",
    open: () => {
      const db = documentClient();
      return () => db.update({ TableName: localTableNames.cache, Key: key });
    },
  },
  "DynamoDB by the SDK": {
    proxy: "dynamodb",
    open: () => {
      const db = openDynamoDb();
      return () => db.get({ TableName: localTableNames.cache, Key: key });
    },
  },
  SQS: {
    proxy: "sqs",
    open: () => {
      const sqs = openSqs();
      return () => sqs.getQueueUrl({ QueueName: "delivery" });
    },
  },
  "Secrets Manager": {
    proxy: "secretsManager",
    open: () => {
      const secrets = secretsClient();
      return () => secrets.getSecretValue({ SecretId: "reference-key" });
    },
  },
};
const clientCases = Object.keys(clients).flatMap((client) =>
  slowEffects.map(([effect, wakeUp]): [string, FreezeEffect, WakeUp] => [client, effect, wakeUp]),
);

test.each(clientCases)(
  "a call of %s succeeds after a freeze that ends five idle connections (%s) if the process %s",
  async (name, effect, wakeUp) => {
    const client = clients[name];
    if (client === undefined) throw new Error(name);
    const { connections, drop } = proxies[client.proxy];
    drop("rst");
    const call = client.open();
    await call();
    await Promise.all(Array.from({ length: 5 }, call));
    expect(connections()).toBe(5);
    drop(effect);
    await wakeUps[wakeUp]();
    await call();
    expect(connections()).toBe(1);
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
    await Promise.all([call(), call()]);
    expect(proxy.connections()).toBe(2);
    proxy.drop("forgotten");
    await call();
    expect(proxy.connections()).toBe(1);
  } finally {
    back();
    await proxy.stop();
    server.close().closeAllConnections();
  }
});
