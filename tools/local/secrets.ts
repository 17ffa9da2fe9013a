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
  /** Names transactions; see shared/platform/keyed-hashes.ts. */
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
  /** The value before of those that were set anew. */
  previous: z.record(z.string(), z.string()).default({}),
});
export type Secrets = Omit<z.output<typeof secretsFile>, "previous">;

/** The secrets kept in the file; those that are not there yet are made now and kept. */
export const loadSecrets = (path: string): Secrets => {
  const kept = readJsonFile(path, secretsFile) ?? secretsFile.parse({});
  writeJsonFile(path, kept);
  const { previous: _previous, ...secrets } = kept;
  return secrets;
};

/** Keeps a value that was set, and the one before it. One that the file did not hold before is not ours to keep on disk. */
const keepSecret = (path: string, name: string, value: string, before: string): void => {
  const kept = readJsonFile(path, secretsFile.loose());
  if (kept?.[name] !== before) return;
  writeJsonFile(path, { ...kept, [name]: value, previous: { ...kept.previous, [name]: before } });
};

export type SecretsManager = { readonly endpoint: string; readonly stop: () => Promise<void> };

const getSecretValue = z.object({
  SecretId: z.string().transform(nameOf),
  VersionStage: z.string().default("AWSCURRENT"),
});
const putSecretValue = z.object({ SecretId: z.string().transform(nameOf), SecretString: z.string().min(1) });

/** The operations of Secrets Manager that the service and its operator use, on loopback. With a file, what is set is kept in it. */
export const startSecretsManager = async (
  secrets: Readonly<Record<string, string>>,
  path?: string,
): Promise<SecretsManager> => {
  const vault: Vault = {
    AWSCURRENT: new Map(Object.entries(secrets)),
    AWSPREVIOUS: new Map(Object.entries((path && readJsonFile(path, secretsFile)?.previous) || {})),
  };
  const operations: Readonly<Record<string, (body: unknown) => Reply>> = {
    "secretsmanager.GetSecretValue": (body) => secretValue(vault, body),
    "secretsmanager.PutSecretValue": (body) => newSecretValue(vault, body, path),
  };
  const server = createServer(async (request, response) => {
    const operation = operations[request.headers["x-amz-target"]?.toString() ?? ""];
    const [status, body] = operation
      ? operation(parsedJson(await text(request).catch(() => "")))
      : refusal("UnknownOperationException", `Only ${Object.keys(operations).join(" and ")} are served here.`);
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

type Vault = Readonly<Record<"AWSCURRENT" | "AWSPREVIOUS", Map<string, string>>>;
type Reply = readonly [status: number, body: Readonly<Record<string, unknown>>];

/** A secret is named, or given by its ARN. */
function nameOf(secretId: string): string {
  return secretId.split(":").at(-1) ?? "";
}

const description = (name: string, stage: string) => ({
  ARN: `arn:aws:secretsmanager:${REGION}:${ACCOUNT_ID}:secret:${name}`,
  Name: name,
  VersionId: "00000000-0000-0000-0000-000000000001",
  VersionStages: [stage],
});

/** Source: AWS, "GetSecretValue" in the Secrets Manager API reference. */
const secretValue = (vault: Vault, body: unknown): Reply => {
  const parsed = getSecretValue.safeParse(body);
  if (!parsed.success) return refusal("InvalidRequestException", "SecretId is required.");
  const { SecretId: name, VersionStage: stage } = parsed.data;
  // A secret that was never set anew has no version but the current one.
  const value = stage === "AWSCURRENT" || stage === "AWSPREVIOUS" ? vault[stage].get(name) : undefined;
  if (value === undefined) return absent;
  return [200, { ...description(name, stage), SecretString: value, CreatedDate: 0 }];
};

/** Source: AWS, "PutSecretValue": the new value becomes current, and the one that was current becomes the previous one. */
const newSecretValue = (vault: Vault, body: unknown, path: string | undefined): Reply => {
  const parsed = putSecretValue.safeParse(body);
  if (!parsed.success) return refusal("InvalidRequestException", "SecretId and SecretString are required.");
  const { SecretId: name, SecretString: value } = parsed.data;
  const before = vault.AWSCURRENT.get(name);
  if (before === undefined) return absent;
  vault.AWSPREVIOUS.set(name, before);
  vault.AWSCURRENT.set(name, value);
  if (path !== undefined) keepSecret(path, name, value, before);
  return [200, description(name, "AWSCURRENT")];
};

const refusal = (type: string, message: string): Reply => [400, { __type: type, message }];
const absent = refusal("ResourceNotFoundException", "Secrets Manager can't find the specified secret.");

const parsedJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
