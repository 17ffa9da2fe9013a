import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import * as z from "#zod";
import { jsonOf } from "../../shared/contract/values/json.ts";
import { type SecretName, secretValues } from "../../shared/platform/secret-table.ts";
import { readJsonFile, writeJsonFile } from "./json-file.ts";
import { ACCOUNT_ID, IDENTITY_KEY_ARN, REGION } from "./local-aws.ts";
import { closeServer, LOOPBACK, listenOnLoopback } from "./loopback.ts";

const random = (): string => randomBytes(32).toString("base64url");

/** Every secret of the service by its name, and the previous value of each secret that was rotated. */
const secretsFile = z.catchall(
  z.object({ previous: z._default(z.record(z.string(), z.string()), {}) }),
  z.string().check(z.minLength(1)),
);
/** What a key of KMS is made of, which the real one never shows. */
const IDENTITY_KEY = "identity-key";
export type Secrets = Readonly<Record<SecretName | typeof IDENTITY_KEY, string>>;

const generate = (name: SecretName): string => `${prefixes[name] ?? ""}${random()}`;
const prefixes: Partial<Readonly<Record<SecretName, string>>> = {
  "upstream-key": "live_",
  "upstream-test-key": "test_",
};

/** Reads the secrets of the file; generates and stores those that are missing. */
export const loadSecrets = (path: string): Secrets => {
  const { previous, ...stored } = readJsonFile(path, secretsFile) ?? secretsFile.parse({});
  const secrets = {
    ...secretValues((name) => stored[name] ?? generate(name)),
    [IDENTITY_KEY]: stored[IDENTITY_KEY] ?? random(),
  };
  writeJsonFile(path, { ...secrets, previous });
  return secrets;
};

/**
 * Stores a new value and the previous one. A secret whose previous value is not in the file came from outside and is
 * not stored.
 */
const storeSecret = (path: string, name: string, value: string, previous: string): void => {
  const stored = readJsonFile(path, secretsFile);
  if (stored?.[name] !== previous) return;
  writeJsonFile(path, { ...stored, [name]: value, previous: { ...stored.previous, [name]: previous } });
};

export type SecretsManager = { readonly endpoint: string; readonly stop: () => Promise<void> };

const describeSecret = z.object({ SecretId: z.pipe(z.string(), z.transform(nameOf)) });
const getSecretValue = z.object({
  SecretId: z.pipe(z.string(), z.transform(nameOf)),
  VersionStage: z._default(z.string(), "AWSCURRENT"),
});
const putSecretValue = z.object({
  SecretId: z.pipe(z.string(), z.transform(nameOf)),
  SecretString: z.string().check(z.minLength(1)),
  ClientRequestToken: z._default(z.string().check(z.minLength(32), z.maxLength(64)), randomUUID),
});
const generateMac = z.object({
  KeyId: z.string(),
  MacAlgorithm: z.string(),
  Message: z.base64().check(z.minLength(1)),
});

/**
 * Serves the operations of Secrets Manager that the service and the admin commands use, and the one of KMS. With a file,
 * new values are stored in it.
 */
export const startSecretsManager = async (
  { [IDENTITY_KEY]: identityKey = random(), ...secrets }: Readonly<Record<string, string>>,
  path?: string,
): Promise<SecretsManager> => {
  const versions: Versions = {
    AWSCURRENT: new Map(Object.entries(secrets)),
    AWSPREVIOUS: new Map(Object.entries((path && readJsonFile(path, secretsFile)?.previous) || {})),
    ids: new Map(),
  };
  const operations: Readonly<Record<string, (body: unknown) => Response>> = {
    "secretsmanager.DescribeSecret": (body) => describe(versions, body),
    "secretsmanager.GetSecretValue": (body) => getValue(versions, body),
    "secretsmanager.PutSecretValue": (body) => putValue(versions, body, path),
    "TrentService.GenerateMac": (body) => makeMac(identityKey, body),
  };
  const server = createServer(async (request, response) => {
    const operation = operations[request.headers["x-amz-target"]?.toString() ?? ""];
    const [status, body] = operation
      ? operation(jsonOf(await text(request).catch(() => "")))
      : failure("UnknownOperationException", `Only ${Object.keys(operations).join(" and ")} are served here.`);
    response.writeHead(status, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(body));
  });
  const port = await listenOnLoopback(server);
  return {
    endpoint: `http://${LOOPBACK}:${port}`,
    stop: () => closeServer(server),
  };
};

type Versions = Readonly<Record<"AWSCURRENT" | "AWSPREVIOUS", Map<string, string>>> & {
  /** The values that were put, by secret and version, oldest first. */
  readonly ids: Map<string, Map<string, string>>;
};
type Response = readonly [status: number, body: Readonly<Record<string, unknown>>];

/** A secret is identified by its name or ARN. */
function nameOf(secretId: string): string {
  return secretId.split(":").at(-1) ?? "";
}

const description = (name: string, stage: string) => ({
  ARN: `arn:aws:secretsmanager:${REGION}:${ACCOUNT_ID}:secret:${name}`,
  Name: name,
  VersionId: "00000000-0000-0000-0000-000000000001",
  VersionStages: [stage],
});

/** Source: AWS, "DescribeSecret": a secret without a value has no versions. */
const describe = (versions: Versions, body: unknown): Response => {
  const name = describeSecret.safeParse(body).data?.SecretId;
  if (name === undefined) return failure("InvalidRequestException", "SecretId is required.");
  const stages = (["AWSCURRENT", "AWSPREVIOUS"] as const).filter((stage) => versions[stage].has(name));
  const ids = [...(versions.ids.get(name)?.keys() ?? [])].reverse();
  const VersionIdsToStages = Object.fromEntries(stages.map((stage, at) => [ids[at] ?? `version-${stage}`, [stage]]));
  return [200, { Name: name, VersionIdsToStages }];
};

/** Source: AWS, "GetSecretValue" in the Secrets Manager API reference. */
const getValue = (versions: Versions, body: unknown): Response => {
  const parsed = getSecretValue.safeParse(body);
  if (!parsed.success) return failure("InvalidRequestException", "SecretId is required.");
  const { SecretId: name, VersionStage: stage } = parsed.data;
  // A secret that was never rotated has only the current version.
  const value = stage === "AWSCURRENT" || stage === "AWSPREVIOUS" ? versions[stage].get(name) : undefined;
  if (value === undefined) return notFound;
  return [200, { ...description(name, stage), SecretString: value, CreatedDate: 0 }];
};

/**
 * Source: AWS, "PutSecretValue": the new value becomes current, and the one that was current becomes the previous one. A
 * version that exists with this value is left as it is, also if it is neither.
 */
const putValue = (versions: Versions, body: unknown, path: string | undefined): Response => {
  const parsed = putSecretValue.safeParse(body);
  if (!parsed.success) return failure("InvalidRequestException", "SecretId and SecretString are required.");
  const { SecretId: name, SecretString: value, ClientRequestToken: id } = parsed.data;
  const previous = versions.AWSCURRENT.get(name);
  if (previous === undefined) return notFound;
  const ids = versions.ids.get(name) ?? new Map<string, string>();
  const existing = ids.get(id);
  if (existing === value) return [200, description(name, "AWSCURRENT")];
  if (existing !== undefined) return failure("ResourceExistsException", "The version has another value.");
  versions.ids.set(name, ids.set(id, value));
  versions.AWSPREVIOUS.set(name, previous);
  versions.AWSCURRENT.set(name, value);
  if (path !== undefined) storeSecret(path, name, value, previous);
  return [200, description(name, "AWSCURRENT")];
};

/** Source: AWS, "GenerateMac" in the KMS API reference: an HMAC as in RFC 2104. */
const makeMac = (key: string, body: unknown): Response => {
  const parsed = generateMac.safeParse(body);
  if (!parsed.success) return failure("ValidationException", "KeyId, MacAlgorithm and Message are required.");
  const { KeyId, MacAlgorithm, Message } = parsed.data;
  if (KeyId !== IDENTITY_KEY_ARN) return failure("NotFoundException", `Key '${KeyId}' does not exist.`);
  if (MacAlgorithm !== "HMAC_SHA_256") return failure("InvalidKeyUsageException", "The key makes HMAC_SHA_256 only.");
  const Mac = createHmac("sha256", key).update(Message, "base64").digest("base64");
  return [200, { KeyId, MacAlgorithm, Mac }];
};

const failure = (type: string, message: string): Response => [400, { __type: type, message }];
const notFound = failure("ResourceNotFoundException", "Secrets Manager can't find the specified secret.");
