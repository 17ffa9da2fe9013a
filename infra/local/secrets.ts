import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import * as z from "zod";
import { readJsonFile, writeJsonFile } from "./json-file.ts";
import { ACCOUNT_ID, REGION } from "./local-aws.ts";

const HOST = "127.0.0.1";
const random = (): string => randomBytes(32).toString("base64url");

/** Every secret of the service; what is not in the file yet is made up. */
const secretsFile = z.object({
  /** Names transactions; see shared/wallet/naming.ts. */
  "reference-key": z.string().min(1).default(random),
  "replay-key": z.string().min(1).default(random),
  /** Seals the accounts' webhook secrets. */
  "webhook-key": z.string().min(1).default(random),
  /** The live key of the simulator, or of a provider elsewhere. */
  "upstream-key": z
    .string()
    .min(1)
    .default(() => `live_${random()}`),
  /** The last part of the path at which the upstream reports outcomes. */
  "webhook-token": z.string().min(1).default(random),
  /** With which the upstream signs those reports. */
  "upstream-webhook-hmac": z.string().min(1).default(random),
});
export type Secrets = z.output<typeof secretsFile>;

/** The secrets kept in the file; those that are not there yet are made now and kept. */
export const loadSecrets = (path: string): Secrets => {
  const secrets = readJsonFile(path, secretsFile) ?? secretsFile.parse({});
  writeJsonFile(path, secrets);
  return secrets;
};

export type SecretsManager = { readonly endpoint: string; readonly stop: () => Promise<void> };

const getSecretValue = z.object({ SecretId: z.string(), VersionStage: z.string().default("AWSCURRENT") });

/** The one operation of Secrets Manager that the service uses, GetSecretValue, on loopback. */
export const startSecretsManager = async (secrets: Readonly<Record<string, string>>): Promise<SecretsManager> => {
  const server = createServer(async (request, response) => {
    const [status, body] =
      request.headers["x-amz-target"] === "secretsmanager.GetSecretValue"
        ? secretValue(secrets, await text(request).catch(() => ""))
        : refusal("UnknownOperationException", "Only GetSecretValue is served here.");
    response.writeHead(status, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(body));
  });
  server.listen(0, HOST);
  await once(server, "listening");
  const address = server.address();
  return {
    endpoint: `http://${HOST}:${typeof address === "object" && address !== null ? address.port : 0}`,
    stop: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
};

type Reply = readonly [status: number, body: Readonly<Record<string, unknown>>];

/** Source: AWS, "GetSecretValue" in the Secrets Manager API reference. A secret is named or given by its ARN. */
const secretValue = (secrets: Readonly<Record<string, string>>, body: string): Reply => {
  const parsed = getSecretValue.safeParse(parsedJson(body));
  if (!parsed.success) return refusal("InvalidRequestException", "SecretId is required.");
  const name = parsed.data.SecretId.split(":").at(-1) ?? "";
  // A secret that was never rotated has no version but the current one.
  const isCurrent = parsed.data.VersionStage === "AWSCURRENT";
  const value = isCurrent && Object.hasOwn(secrets, name) ? secrets[name] : undefined;
  if (value === undefined) {
    return refusal("ResourceNotFoundException", "Secrets Manager can't find the specified secret.");
  }
  const found = {
    ARN: `arn:aws:secretsmanager:${REGION}:${ACCOUNT_ID}:secret:${name}`,
    Name: name,
    SecretString: value,
    VersionId: "00000000-0000-0000-0000-000000000001",
    VersionStages: ["AWSCURRENT"],
    CreatedDate: 0,
  };
  return [200, found];
};

const refusal = (type: string, message: string): Reply => [400, { __type: type, message }];

const parsedJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
