import * as z from "zod";
import { outputOf } from "../../infra/outputs.ts";
import { secretNames, secretTable } from "../../shared/platform/secret-table.ts";
import { localTableNames } from "../../tools/local/tables.ts";
import type { SdkCall } from "./recorded-calls.ts";
import { type Resource, resourceName, type StackTemplate, statementsOf } from "./templates.ts";

/** `dynamodb:Query on Ledger/index/by_list`: an action and a resource, by its name in the templates. */
export type Grant = `${string} on ${string}`;

const leadingKeys = z.object({
  "ForAllValues:StringLike": z.object({ "dynamodb:LeadingKeys": z.union([z.string(), z.array(z.string()).length(1)]) }),
});

/** What a policy allows. Of items with certain keys, the resource is `Ledger/checkpoint#*`. */
export const grantsIn = (policy: Resource): readonly Grant[] =>
  statementsOf(policy).flatMap(({ Effect, Action, Resource = [], Condition }) => {
    if (Effect !== "Allow") {
      // A function's own code is denied network interfaces, which no call that is compared here needs.
      if (Action.every((action) => action.startsWith("ec2:"))) return [];
      throw new Error(`${policy.id} denies ${Action}`);
    }
    const keys =
      Condition === undefined
        ? ""
        : `/${leadingKeys.parse(Condition)["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]}`;
    return Action.flatMap((action) =>
      Resource.map((resource): Grant => `${action} on ${resourceName(resource)}${keys}`),
    );
  });

/** The resources of services whose calls name none, or the stage's only one. */
const ONLY_RESOURCES: Readonly<Record<string, string>> = {
  cloudformation: "stack/Prod-Service/*",
  lambda: "*",
};

const PART_ACTIONS: Readonly<Record<string, string>> = {
  Put: "PutItem",
  Update: "UpdateItem",
  Delete: "DeleteItem",
  ConditionCheck: "ConditionCheckItem",
};
/** The document client's commands have names of their own. */
const DOCUMENT_ACTIONS: Readonly<Record<string, string>> = {
  ...PART_ACTIONS,
  Get: "GetItem",
  BatchGet: "BatchGetItem",
};

const itemWrite = z.object({
  TableName: z.string(),
  Item: z.looseObject({ pk: z.string() }).optional(),
  Key: z.looseObject({ pk: z.string() }).optional(),
});
const callInput = z
  .object({
    TableName: z.string(),
    IndexName: z.string(),
    RequestItems: z.record(z.string(), z.unknown()),
    TransactItems: z.array(z.record(z.string(), itemWrite)),
    QueueUrl: z.string(),
    SecretId: z.enum(secretNames),
    /** Tests name a topic as the templates do. */
    TopicArn: z.string(),
  })
  .partial();

/**
 * What IAM must allow for a call to a local service. A write of a command that only reads counts for items with such a
 * key only.
 */
export const requiredGrants = (
  { service, operation, input }: SdkCall,
  { isReading, stage }: { readonly isReading: boolean; readonly stage: StackTemplate },
): readonly Grant[] => {
  // Every identity may ask who it is.
  if (operation === "GetCallerIdentity") return [];
  const prefix = service.toLowerCase().replaceAll(" ", "");
  const { TableName, IndexName, RequestItems, TransactItems, QueueUrl, SecretId, TopicArn } = callInput.parse(input);
  if (prefix !== "dynamodb") {
    const resource =
      (QueueUrl && queueResource(QueueUrl, stage)) ??
      (SecretId && secretResource(SecretId)) ??
      TopicArn ??
      ONLY_RESOURCES[prefix];
    if (resource === undefined) throw new Error(`Which resource does ${service}.${operation} need?`);
    return [`${prefix}:${operation} on ${resource}`];
  }
  if (TransactItems !== undefined) {
    return TransactItems.flatMap(Object.entries).map(
      ([kind, write]): Grant => `dynamodb:${PART_ACTIONS[kind]} on ${writtenResource(write, isReading)}`,
    );
  }
  const action = DOCUMENT_ACTIONS[operation] ?? operation;
  const write = itemWrite.safeParse(input).data;
  if (write?.Item !== undefined || action === "UpdateItem" || action === "DeleteItem")
    return [`dynamodb:${action} on ${writtenResource(itemWrite.parse(input), isReading)}`];
  const names = TableName === undefined ? Object.keys(RequestItems ?? {}) : [TableName];
  const index = IndexName === undefined ? "" : `/index/${IndexName}`;
  return names.map((name): Grant => `dynamodb:${action} on ${tableResource(name)}${index}`);
};

const tableResource = (name: string): string => {
  const [table] = Object.entries(localTableNames).find(([, local]) => local === name) ?? [];
  if (table === undefined) throw new Error(`Which table of a stage is ${name}?`);
  return outputOf(table);
};

const writtenResource = ({ TableName, Item, Key }: z.output<typeof itemWrite>, isReading: boolean): string => {
  const [kind] = (Item ?? Key)?.pk.split("#") ?? [];
  return `${tableResource(TableName)}${isReading ? `/${kind}#*` : ""}`;
};

const secretResource = (name: (typeof secretNames)[number]): string =>
  outputOf(secretTable[name].variable.replace(/_SECRET_ID$/, ""));

/** The local names of queues are those of a stage without the stage's prefix. */
const queueResource = (url: string, stage: StackTemplate): string => {
  const local = new URL(url).pathname.split("/").at(-1) ?? "";
  const queue = stage
    .all("AWS::SQS::Queue")
    .find(({ Properties: { QueueName } }) => QueueName === local || String(QueueName).endsWith(`-airtime-${local}`));
  if (queue === undefined) throw new Error(`Which queue of a stage is ${local}?`);
  return resourceName({ Ref: queue.id });
};
