import * as z from "#zod";
import { outputOf } from "../../../infra/outputs.ts";
import { COUNTER_NAMES } from "../../../shared/access/key-store.ts";
import { secretNames, secretTable } from "../../../shared/platform/secret-table.ts";
import { localTableNames } from "../../../tools/local/tables.ts";
import type { SdkCall } from "../aws/recorded-calls.ts";
import { type Resource, resourceName, type StackTemplate, statementsOf } from "../templates/templates.ts";

/**
 * `dynamodb:Query on Ledger/index/by_list`: an action and a resource, by its name in the templates. For items of some
 * kind only, the resource is `Ledger/checkpoint#*`.
 */
export type Grant = `${string} on ${string}`;

/** The part of a key's item in the access table that functions change which only count requests. */
const RATE_COUNTERS = "rate-counters";
const oneOrMore = z.union([
  z.array(z.string()),
  z.pipe(
    z.string(),
    z.transform((one) => [one]),
  ),
]);
/** The kinds of items, or the protocol, for which a statement's condition holds. */
const itemCondition = z.union([
  z.pipe(
    z.strictObject({
      "ForAllValues:StringLike": z.strictObject({ "dynamodb:LeadingKeys": oneOrMore }),
      Null: z.strictObject({ "dynamodb:LeadingKeys": z.literal("false") }),
    }),
    z.transform((condition) => condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]),
  ),
  // Which kind is left out is evaluated with the attacks.
  z.pipe(
    z.strictObject({
      "ForAllValues:StringNotLike": z.strictObject({ "dynamodb:LeadingKeys": oneOrMore }),
      Null: z.strictObject({ "dynamodb:LeadingKeys": z.literal("false") }),
    }),
    z.transform(() => []),
  ),
  // Whether the attributes are those of the calls is evaluated with the calls (subjects.test.ts).
  z.pipe(
    z.strictObject({
      "ForAllValues:StringLike": z.strictObject({
        "dynamodb:LeadingKeys": oneOrMore,
        "dynamodb:Attributes": oneOrMore,
      }),
      Null: z.strictObject({ "dynamodb:LeadingKeys": z.literal("false"), "dynamodb:Attributes": z.literal("false") }),
    }),
    z.transform((condition) => condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]),
  ),
  z.pipe(
    z.strictObject({
      "ForAllValues:StringLike": z.strictObject({
        "dynamodb:Attributes": z.tuple([z.literal("pk"), z.literal(COUNTER_NAMES)]),
      }),
      Null: z.strictObject({ "dynamodb:Attributes": z.literal("false") }),
    }),
    z.transform(() => [RATE_COUNTERS]),
  ),
  z.pipe(
    z.strictObject({ StringEquals: z.strictObject({ "sns:Protocol": oneOrMore }) }),
    z.transform(({ StringEquals }) => StringEquals["sns:Protocol"]),
  ),
]);

/** What a policy allows. */
export const grantsIn = (policy: Resource): readonly Grant[] =>
  statementsOf(policy).flatMap(({ Effect, Action, Resource = [], Condition }) => {
    if (Effect !== "Allow") {
      // A function's own code is denied network interfaces, which no call that is compared here needs.
      if (Action.every((action) => action.startsWith("ec2:"))) return [];
      throw new Error(`${policy.id} denies ${Action}`);
    }
    const limited = Condition === undefined ? [] : itemCondition.parse(Condition);
    const kinds = limited.length === 0 ? [""] : limited.map((kind) => `/${kind}`);
    return Action.flatMap((action) =>
      Resource.flatMap((resource) => kinds.map((kind): Grant => `${action} on ${resourceName(resource)}${kind}`)),
    );
  });

/** What calls need, in the terms of a policy: where it allows items of any kind, the kind is left out. */
export const asAllowed = (required: readonly Grant[], allowed: readonly Grant[]): readonly Grant[] =>
  required.map((grant) => {
    const [action, resource = ""] = grant.split(" on ");
    const ofAnyKind: Grant = `${action} on ${resource.split("/")[0]}`;
    return !allowed.includes(grant) && !resource.includes("/index/") && allowed.includes(ofAnyKind) ? ofAnyKind : grant;
  });

/** The resources of services whose calls name none, or the stage's only one. */
const ONLY_RESOURCES: Readonly<Record<string, string>> = {
  cloudwatch: "*",
  lambda: "*",
  kms: "IdentityKey",
  s3: "AuditCopy",
};
/** Permissions that have another name than their call. Source: Amazon S3, "Required permissions for S3 API operations". */
const PERMISSIONS: Readonly<Record<string, string>> = {
  GetObjectLockConfiguration: "GetBucketObjectLockConfiguration",
  ListObjectVersions: "ListBucketVersions",
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

/** A batch needs the permission of its parts. Source: AWS, "Amazon SQS API permissions". */
const BATCH_OF_MESSAGES = /(?<=^(Send|Delete)Message)Batch$/;

/** As the document client has it, or the client below it. */
const pk = z.union([
  z.string(),
  z.pipe(
    z.object({ S: z.string() }),
    z.transform(({ S }) => S),
  ),
]);
const itemCall = z.object({
  TableName: z.string(),
  Item: z.optional(z.looseObject({ pk })),
  Key: z.optional(z.looseObject({ pk })),
  UpdateExpression: z.optional(z.string()),
  ExpressionAttributeNames: z.optional(z.record(z.string(), z.string())),
  /** Of a query: the partition that it reads. */
  ExpressionAttributeValues: z.optional(z.looseObject({ ":pk": z.optional(pk) })),
});
const batchKeys = z.looseObject({ Keys: z.array(z.looseObject({ pk })) });
const callInput = z.partial(
  z.object({
    IndexName: z.string(),
    RequestItems: z.record(z.string(), batchKeys),
    TransactItems: z.array(z.record(z.string(), itemCall)),
    QueueUrl: z.string(),
    SecretId: z.enum(secretNames),
    /** Tests name a topic of alarms as the templates do. */
    TopicArn: z.string(),
    SubscriptionArn: z.string(),
    Protocol: z.string(),
    StackName: z.string(),
    /** The ARN of a table. */
    ResourceArn: z.string(),
  }),
);

/** What IAM must allow for a call to a local service. */
export const requiredGrants = ({ service, operation, input }: SdkCall, stage: StackTemplate): readonly Grant[] => {
  // Every identity may ask who it is.
  if (operation === "GetCallerIdentity") return [];
  const prefix = service.toLowerCase().replaceAll(" ", "");
  const { IndexName, RequestItems, TransactItems, QueueUrl, SecretId, StackName, ResourceArn, ...sns } =
    callInput.parse(input);
  if (prefix !== "dynamodb") {
    if (sns.SubscriptionArn !== undefined) return [`sns:${operation} on Notifications`];
    const resource =
      (QueueUrl && queueResource(QueueUrl, stage)) ??
      (SecretId && secretResource(SecretId)) ??
      (StackName && `stack/${StackName}/*`) ??
      (sns.TopicArn && topicResource(sns.TopicArn, sns.Protocol)) ??
      ONLY_RESOURCES[prefix];
    if (resource === undefined) throw new Error(`Which resource does ${service}.${operation} need?`);
    return [`${prefix}:${PERMISSIONS[operation] ?? operation.replace(BATCH_OF_MESSAGES, "")} on ${resource}`];
  }
  if (TransactItems !== undefined) {
    return TransactItems.flatMap(Object.entries).map(
      ([kind, part]): Grant => `dynamodb:${PART_ACTIONS[kind]} on ${itemResource(part)}`,
    );
  }
  const action = DOCUMENT_ACTIONS[operation] ?? operation;
  if (ResourceArn !== undefined) return [`dynamodb:${action} on ${tableResource(ResourceArn.split("/")[1] ?? "")}`];
  if (RequestItems !== undefined) {
    return Object.entries(RequestItems).flatMap(([name, { Keys }]) =>
      Keys.map((Key): Grant => `dynamodb:${action} on ${itemResource({ TableName: name, Key })}`),
    );
  }
  const item = itemCall.parse(input);
  if (item.Item !== undefined || item.Key !== undefined) return [`dynamodb:${action} on ${itemResource(item)}`];
  const partition = item.ExpressionAttributeValues?.[":pk"];
  if (IndexName === undefined && partition !== undefined)
    return [`dynamodb:${action} on ${itemResource({ ...item, Key: { pk: partition } })}`];
  const index = IndexName === undefined ? "" : `/index/${IndexName}`;
  return [`dynamodb:${action} on ${tableResource(item.TableName)}${index}`];
};

const tableResource = (name: string): string => {
  const [table] = Object.entries(localTableNames).find(([, local]) => local === name) ?? [];
  if (table === undefined) throw new Error(`Which table of a stage is ${name}?`);
  return outputOf(table);
};

const itemResource = (call: z.output<typeof itemCall>): string => {
  const table = tableResource(call.TableName);
  const [kind, ...rest] = (call.Item ?? call.Key)?.pk.split("#") ?? [];
  if (table !== "Access") return `${table}/${kind}${rest.length > 0 ? "#*" : ""}`;
  const names = Object.values(call.ExpressionAttributeNames ?? {});
  const onlyCounts = call.UpdateExpression !== undefined && names.every((name) => name.includes(":"));
  return `${table}/${onlyCounts ? RATE_COUNTERS : "key"}`;
};

const secretResource = (name: (typeof secretNames)[number]): string =>
  outputOf(secretTable[name].variable.replace(/_SECRET_ID$/, ""));

const topicResource = (arn: string, protocol: string | undefined): string => {
  const topic = arn.endsWith(":notifications") ? "Notifications" : arn;
  return protocol === undefined ? topic : `${topic}/${protocol}`;
};

/** The local names of queues are those of a stage without the stage's prefix. */
const queueResource = (url: string, stage: StackTemplate): string => {
  const local = new URL(url).pathname.split("/").at(-1) ?? "";
  const queue = stage
    .all("AWS::SQS::Queue")
    .find(({ Properties: { QueueName } }) => QueueName === local || String(QueueName).endsWith(`-airtime-${local}`));
  if (queue === undefined) throw new Error(`Which queue of a stage is ${local}?`);
  return resourceName({ Ref: queue.id });
};
