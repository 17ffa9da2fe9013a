import { GetSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openSecretsManager } from "../../../../shared/platform/aws/sdk.ts";
import { isCurrentValue, isSecretSet, replaceSecret, setSecret } from "../../../../tools/admin/secret-state.ts";
import { localAwsEnvironment, setEnvironment } from "../../../../tools/local/local-aws.ts";
import { type SecretsManager, startSecretsManager } from "../../../../tools/local/secrets.ts";
import { recordCalls } from "../../../builders/aws/recorded-calls.ts";

const ID = "upstream-webhook-hmac";
let server: SecretsManager;
let restore: () => void;
beforeAll(async () => {
  server = await startSecretsManager({ [ID]: "made elsewhere" });
  const { endpoint } = server;
  restore = setEnvironment(localAwsEnvironment({ dynamodb: endpoint, sqs: endpoint, secretsManager: endpoint }));
});
afterAll(async () => {
  restore();
  await server.stop();
});

test("a value is compared with the current one without reading it, and a repeated command keeps the previous one", async () => {
  const client = openSecretsManager();
  const stage = async (VersionStage: string) =>
    (await client.send(new GetSecretValueCommand({ SecretId: ID, VersionStage }))).SecretString;
  const operations: string[] = [];
  const onCall = ({ operation }: { readonly operation: string }) => void operations.push(operation);
  await recordCalls({ canned: {}, onCall }, async () => {
    expect(await isSecretSet(client, ID)).toBe(true);
    expect(await isCurrentValue(client, ID, "first")).toBe(false);
    await setSecret(client, ID, "first");
    await setSecret(client, ID, "second");
    expect(await isCurrentValue(client, ID, "first")).toBe(false);
    expect(await isCurrentValue(client, ID, "second")).toBe(true);
    // As after an answer that was lost.
    await setSecret(client, ID, "second");
  });
  expect(new Set(operations)).toEqual(new Set(["DescribeSecret", "PutSecretValue"]));
  expect([await stage("AWSCURRENT"), await stage("AWSPREVIOUS")]).toEqual(["second", "first"]);
  client.destroy();
});

/** A client whose puts get no answer, after they are made or in the place of them, and all calls after that if it `stays`. */
const losing = ({ isMade, stays = false }: { readonly isMade: boolean; readonly stays?: boolean }) => {
  const client = openSecretsManager();
  let isLost = false;
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const isPut = commandName === "PutSecretValueCommand";
        if (!isPut && !isLost) return next(args);
        if (isPut && isMade) await next(args);
        isLost = stays;
        throw Object.assign(new Error("socket hang up"), { name: "TimeoutError" });
      },
    { step: "initialize" },
  );
  return client;
};

test("a value whose put got no answer is set if it was made, and it is said if that is not known", async () => {
  const [made, lost, offline] = [
    losing({ isMade: true }),
    losing({ isMade: false }),
    losing({ isMade: true, stays: true }),
  ];
  await setSecret(made, ID, "made without an answer");
  expect(await isCurrentValue(made, ID, "made without an answer")).toBe(true);
  await expect(setSecret(lost, ID, "never made")).rejects.toThrow("socket hang up");
  expect(await isCurrentValue(lost, ID, "made without an answer")).toBe(true);
  await expect(setSecret(offline, ID, "perhaps made")).rejects.toThrow(
    "The secret may be set or not (TimeoutError). Before you rotate it again, see when it was changed last",
  );
  for (const client of [made, lost, offline]) client.destroy();
});

test("of two people who add to the same value at once one is refused, and what the other added stays", async () => {
  const client = openSecretsManager();
  await setSecret(client, ID, "read by both");
  await replaceSecret(client, ID, "read by both", "with a line of one");
  // As after an answer that was lost.
  await replaceSecret(client, ID, "read by both", "with a line of one");
  await expect(replaceSecret(client, ID, "read by both", "with a line of the other")).rejects.toThrow(
    "Another person has changed the secret since it was read",
  );
  await replaceSecret(client, ID, "with a line of one", "with lines of both");
  const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: ID }));
  expect(SecretString).toBe("with lines of both");
  client.destroy();
});

test("a value of an older version, which AWS does not list, becomes the current one again", async () => {
  const client = openSecretsManager();
  for (const value of ["a", "b", "c", "a"]) await setSecret(client, ID, value);
  const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: ID }));
  expect(SecretString).toBe("a");
  expect(await isCurrentValue(client, ID, "a")).toBe(true);
  client.destroy();
});
