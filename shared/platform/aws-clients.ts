import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { KMSClient } from "@aws-sdk/client-kms";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import type * as z from "zod";
import { withShortPath } from "./dynamodb/short-path.ts";
import { type environment, readEnv } from "./env.ts";
import { AWS_ATTEMPTS_MAX, AWS_CONNECT_MS_MAX, AWS_RESPONSE_MS_MAX } from "./time-budgets.ts";

// As in shared/upstream/exchange.ts: an import would also evaluate fetch.
const { Agent: HttpAgent } = process.getBuiltinModule("node:http");
const { Agent: HttpsAgent } = process.getBuiltinModule("node:https");

/**
 * When one connection ends, the agent ends those that are idle: what ended it has probably ended them too. A frozen
 * function notices nothing. A NAT gateway, for example, forgets a connection after 350 s, and tells only who uses it.
 * So a call that met a dead connection is sent again over a new one, and both of its attempts are never lost to a
 * freeze. Source: AWS, "Troubleshoot NAT gateways", "Internet connection drops after 350 seconds".
 */
const endingIdle = (agent: InstanceType<typeof HttpAgent>): InstanceType<typeof HttpAgent> => {
  const connect = agent.createConnection;
  const endIdle = (): void => {
    for (const idle of Object.values(agent.freeSockets)) for (const socket of idle ?? []) socket.destroy();
  };
  return Object.assign(agent, {
    createConnection: (...args: Parameters<typeof connect>) => connect.apply(agent, args)?.once("close", endIdle),
  });
};

/** The options of one client. A call that hangs must not use up the time that its request needs for a response. */
const options = () => ({
  maxAttempts: AWS_ATTEMPTS_MAX,
  requestHandler: {
    connectionTimeout: AWS_CONNECT_MS_MAX,
    // Ends with the response's headers; `socketTimeout` ends a body that does not come.
    requestTimeout: AWS_RESPONSE_MS_MAX,
    socketTimeout: AWS_RESPONSE_MS_MAX,
    throwOnRequestTimeout: true,
    // Emulators have no TLS.
    httpAgent: endingIdle(new HttpAgent(POOL)),
    httpsAgent: endingIdle(new HttpsAgent(POOL)),
  },
});

/** As the SDK has them. */
const POOL = { keepAlive: true, maxSockets: 50 } as const;

/** `calls`: as in the process's own environment, unless the setting of another service counts. */
export const documentClient = (
  calls: z.output<typeof environment>["AWS_CALLS"] = readEnv(["AWS_CALLS"]).AWS_CALLS,
): DynamoDBDocumentClient => {
  const marshallOptions = { removeUndefinedValues: true };
  const client = new DynamoDBClient(options());
  // It copies each input and output for a logger that logs nothing: a fifth of the CPU time of a large read.
  client.middlewareStack.remove("loggerMiddleware");
  const db = DynamoDBDocumentClient.from(client, { marshallOptions });
  return calls === "sdk" ? db : withShortPath(db);
};

/** The region's endpoint is used rather than the queue's URL, whose host an emulator cannot always resolve. */
export const sqsClient = (): SQSClient => new SQSClient({ ...options(), useQueueUrlAsEndpoint: false });

export const kmsClient = (): KMSClient => new KMSClient(options());

export const secretsClient = (): SecretsManagerClient => new SecretsManagerClient(options());
