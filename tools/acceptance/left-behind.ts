import {
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ListTagsOfResourceCommand,
  paginateListTables,
  ResourceNotFoundException,
  UpdateTableCommand,
} from "@aws-sdk/client-dynamodb";
import { DeleteSecretCommand, paginateListSecrets, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { stackName } from "../../infra/outputs.ts";
import { HOUR_MS } from "../../shared/contract/values/durations.ts";
import type { Wait } from "./context.ts";
import { AcceptanceError } from "./outcome.ts";
import { TAG } from "./stacks.ts";

/** What a stage's deletion leaves behind on purpose: its durable tables and the keys that are never rotated. */

/** The name of a new table that a restore makes; it has no tags, because a restore copies none. */
export const restoredTableName = (stage: string): string =>
  `${stackName(stage, "Data")}-Restored-${crypto.randomUUID().slice(0, 8)}`;

/** In full, because a person who restores a ledger may name it in a similar way. */
const isRestoredName = (stage: string, name: string): boolean =>
  /^[0-9a-f]{8}$/.test(name.replace(`${stackName(stage, "Data")}-Restored-`, ""));

/** The stage's tables: by the name that CloudFormation gives them and the tag of this command, or by `restoredTableName`. */
export const tablesOf = async (stage: string): Promise<readonly string[]> => {
  const client = new DynamoDBClient({});
  const own: string[] = [];
  for await (const { TableNames = [] } of paginateListTables({ client }, {})) {
    for (const name of TableNames.filter((name) => name.startsWith(`${stackName(stage, "Data")}-`))) {
      if (isRestoredName(stage, name) || (await isTagged(client, name, stage))) own.push(name);
    }
  }
  return own;
};

const isTagged = async (client: DynamoDBClient, TableName: string, stage: string): Promise<boolean> => {
  const table = await describe(client, TableName);
  if (table === undefined) return false;
  const { Tags = [] } = await client.send(new ListTagsOfResourceCommand({ ResourceArn: table.TableArn }));
  return Tags.some(({ Key, Value }) => Key === TAG && Value === stage);
};

/** The stage's secrets, by the tag of this command: CloudFormation's names of secrets do not contain the stack's. */
export const secretsOf = async (stage: string): Promise<readonly string[]> => {
  const client = new SecretsManagerClient({});
  const own: string[] = [];
  const Filters = [{ Key: "tag-key" as const, Values: [TAG] }];
  for await (const { SecretList = [] } of paginateListSecrets({ client }, { Filters })) {
    for (const { ARN = "", Tags = [] } of SecretList) {
      if (Tags.some(({ Key, Value }) => Key === TAG && Value === stage)) own.push(ARN);
    }
  }
  return own;
};

const TABLE_MS_MAX = 2 * HOUR_MS;
const POLL_MS = 2_000;

/** Deletes a table, its protection first. A table that is still being restored cannot be deleted before that ends. */
export const deleteTable = async (TableName: string, wait: Wait): Promise<void> => {
  const client = new DynamoDBClient({});
  const untilMs = Date.now() + TABLE_MS_MAX;
  let isDeleting = false;
  for (;;) {
    const table = await describe(client, TableName);
    if (table === undefined) return;
    if (Date.now() > untilMs) throw new AcceptanceError(`The table ${TableName} is still ${table.TableStatus}`);
    if (table.TableStatus === "ACTIVE" && !isDeleting) {
      if (table.DeletionProtectionEnabled) {
        await client.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: false }));
      } else {
        await client.send(new DeleteTableCommand({ TableName }));
        isDeleting = true;
      }
      continue;
    }
    await wait(POLL_MS, `the table ${TableName}, which is ${table.TableStatus}`);
  }
};

const describe = async (client: DynamoDBClient, TableName: string) => {
  try {
    return (await client.send(new DescribeTableCommand({ TableName }))).Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
};

/** Deletes a secret without a recovery window. */
export const deleteSecret = async (SecretId: string): Promise<void> => {
  await new SecretsManagerClient({}).send(new DeleteSecretCommand({ SecretId, ForceDeleteWithoutRecovery: true }));
};
