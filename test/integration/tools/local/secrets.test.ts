import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";
import { expect, test } from "vitest";
import { localClient } from "../../../../tools/local/local-aws.ts";
import { loadSecrets, startSecretsManager } from "../../../../tools/local/secrets.ts";
import { cleanups, temporaryFolder } from "../../../builders/run/cleanups.ts";

test("the SDK's Secrets Manager client reads a secret by name or ARN, and an unknown secret is not found", async () => {
  const stub = await startSecretsManager({ "reference-key": "s3cret" });
  cleanups.push(stub.stop);
  const client = new SecretsManagerClient(localClient(stub.endpoint));
  const byName = await client.send(new GetSecretValueCommand({ SecretId: "reference-key" }));
  expect(byName).toMatchObject({ Name: "reference-key", SecretString: "s3cret", VersionStages: ["AWSCURRENT"] });
  expect((await client.send(new GetSecretValueCommand({ SecretId: byName.ARN }))).SecretString).toBe("s3cret");
  const described = await client.send(new DescribeSecretCommand({ SecretId: "reference-key" }));
  expect(Object.values(described.VersionIdsToStages ?? {})).toEqual([["AWSCURRENT"]]);
  await expect(client.send(new GetSecretValueCommand({ SecretId: "toString" }))).rejects.toMatchObject({
    name: "ResourceNotFoundException",
  });
});

test("a rotated secret has its previous value under AWSPREVIOUS, also after a restart", async () => {
  const path = join(temporaryFolder(), "secrets.json");
  const value = async (client: SecretsManagerClient, VersionStage: string): Promise<string | undefined> =>
    (await client.send(new GetSecretValueCommand({ SecretId: "webhook-token", VersionStage }))).SecretString;
  const secrets = loadSecrets(path);
  const first = await startSecretsManager(secrets, path);
  const client = new SecretsManagerClient(localClient(first.endpoint));
  await expect(value(client, "AWSPREVIOUS")).rejects.toMatchObject({ name: "ResourceNotFoundException" });
  await client.send(new PutSecretValueCommand({ SecretId: "webhook-token", SecretString: "rotated" }));
  expect(await value(client, "AWSCURRENT")).toBe("rotated");
  await first.stop();

  const second = await startSecretsManager(loadSecrets(path), path);
  cleanups.push(second.stop);
  const later = new SecretsManagerClient(localClient(second.endpoint));
  expect(await value(later, "AWSCURRENT")).toBe("rotated");
  expect(await value(later, "AWSPREVIOUS")).toBe(secrets["webhook-token"]);
});

test("a new value of a secret that the file does not hold is not written to it", async () => {
  const path = join(temporaryFolder(), "secrets.json");
  const stub = await startSecretsManager({ ...loadSecrets(path), "upstream-key": "of a real upstream" }, path);
  cleanups.push(stub.stop);
  const client = new SecretsManagerClient(localClient(stub.endpoint));
  await client.send(new PutSecretValueCommand({ SecretId: "upstream-key", SecretString: "its next key" }));
  expect(readFileSync(path, "utf8")).not.toMatch(/real|next/);
});
