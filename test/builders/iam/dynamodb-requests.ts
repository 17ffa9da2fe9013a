import * as z from "#zod";
import type { IamRequest } from "./evaluate.ts";

/** A key as the document client takes it, or as it goes over the wire. */
const text = z.union([
  z.string(),
  z.pipe(
    z.object({ S: z.string() }),
    z.transform(({ S }) => S),
  ),
]);
const item = z.looseObject({ pk: text });
const attributes = z.record(z.string(), z.unknown());
const expressions = z.object({
  ConditionExpression: z.optional(z.string()),
  UpdateExpression: z.optional(z.string()),
  KeyConditionExpression: z.optional(z.string()),
  FilterExpression: z.optional(z.string()),
  ProjectionExpression: z.optional(z.string()),
  ExpressionAttributeNames: z._default(z.record(z.string(), z.string()), {}),
  ExpressionAttributeValues: z._default(attributes, {}),
});
const part = z.extend(expressions, { TableName: z.string(), Item: z.optional(item), Key: z.optional(item) });
const single = z.extend(part, {
  IndexName: z.optional(z.string()),
  Select: z.optional(z.string()),
  ReturnValues: z.optional(z.string()),
});
const batch = z.object({
  RequestItems: z.record(z.string(), z.extend(expressions, { Keys: z.array(item) })),
});
const transaction = z.object({ TransactItems: z.array(z.record(z.string(), part)) });

/** The document client's commands have names of their own, and so have the parts of a transaction. */
const ACTIONS: Readonly<Record<string, string>> = {
  BatchGet: "BatchGetItem",
  ConditionCheck: "ConditionCheckItem",
  Delete: "DeleteItem",
  Get: "GetItem",
  Put: "PutItem",
  Update: "UpdateItem",
};
const WRITES = ["DeleteItem", "PutItem", "UpdateItem"];
const READS = ["BatchGetItem", "GetItem", "Query", "Scan"];

/**
 * What DynamoDB asks IAM for a call: one request for each table of a batch and each part of a transaction. Sources: AWS,
 * "Using IAM policy conditions for fine-grained access control" (the keys, and that `Select` and `ReturnValues` always
 * have a value); "Using IAM with DynamoDB transactions" (parts need the underlying actions; `EnclosingOperation`).
 */
export const dynamoDbRequests = (
  operation: string,
  input: unknown,
  tableArn: (table: string) => string,
): readonly IamRequest[] => {
  const action = ACTIONS[operation] ?? operation;
  if (/^TransactWrite/.test(action)) {
    return transaction.parse(input).TransactItems.flatMap((one) =>
      Object.entries(one).map(([kind, { TableName, ...written }]) => ({
        action: `dynamodb:${ACTIONS[kind] ?? kind}`,
        resource: tableArn(TableName),
        // AWS does not document `ReturnValues` for a part, which has no such parameter.
        context: { ...contextOf(written), "dynamodb:EnclosingOperation": ["TransactWriteItems"] },
      })),
    );
  }
  if (action === "BatchGetItem") {
    return Object.entries(batch.parse(input).RequestItems).map(([table, { Keys, ...read }]) => ({
      action: "dynamodb:BatchGetItem",
      resource: tableArn(table),
      context: { ...contextOf(read, Keys), "dynamodb:Select": selectOf(read) },
    }));
  }
  if (![...READS, ...WRITES].includes(action)) throw new Error(`What does IAM ask for ${operation}?`);
  const { TableName, IndexName, Select, ReturnValues = "NONE", ...rest } = single.parse(input);
  return [
    {
      action: `dynamodb:${action}`,
      resource: `${tableArn(TableName)}${IndexName === undefined ? "" : `/index/${IndexName}`}`,
      context: {
        ...contextOf(rest),
        ...(WRITES.includes(action) && { "dynamodb:ReturnValues": ReturnValues }),
        ...(READS.includes(action) && { "dynamodb:Select": Select ?? selectOf(rest, IndexName) }),
      },
    },
  ];
};

type Parsed = z.output<typeof expressions> & {
  readonly Item?: z.output<typeof item>;
  readonly Key?: z.output<typeof item>;
};

const selectOf = ({ ProjectionExpression }: Parsed, index?: string): string => {
  if (ProjectionExpression !== undefined) return "SPECIFIC_ATTRIBUTES";
  return index === undefined ? "ALL_ATTRIBUTES" : "ALL_PROJECTED_ATTRIBUTES";
};

/** The leading keys and the attributes that a request names. A scan has no leading key. */
const contextOf = (parsed: Parsed, keys = [parsed.Item ?? parsed.Key ?? []].flat()): IamRequest["context"] => {
  const { KeyConditionExpression, ExpressionAttributeNames: names, ExpressionAttributeValues: values } = parsed;
  const [, partition] = /=\s*(:\w+)/.exec(KeyConditionExpression ?? "") ?? [];
  const leading = partition === undefined ? keys.map(({ pk }) => pk) : [text.parse(values[partition])];
  const named = [
    ...keys.flatMap((one) => Object.keys(one)),
    ...[
      parsed.ConditionExpression,
      parsed.UpdateExpression,
      KeyConditionExpression,
      parsed.FilterExpression,
      parsed.ProjectionExpression,
    ].flatMap((expression) => attributesIn(expression ?? "", names)),
  ];
  return {
    ...(leading.length > 0 && { "dynamodb:LeadingKeys": leading }),
    "dynamodb:Attributes": [...new Set(named)],
  };
};

const WORDS = new Set(["ADD", "AND", "BETWEEN", "DELETE", "IN", "NOT", "OR", "REMOVE", "SET"]);

const written = new Map<string, readonly string[]>();
/** The names in an expression as they are written; of a path its first part. The service has some hundred expressions. */
const namesIn = (expression: string): readonly string[] => {
  const found =
    written.get(expression) ??
    [...expression.matchAll(/(?<![\w:#.])(#\w+|[A-Za-z_]\w*)(?!\w|\s*\()/g)]
      .map(([, name = ""]) => name)
      .filter((name) => !WORDS.has(name.toUpperCase()));
  written.set(expression, found);
  return found;
};

/** The attributes of the item that an expression names. */
const attributesIn = (expression: string, names: Readonly<Record<string, string>>): readonly string[] =>
  namesIn(expression).map((name) => {
    if (!name.startsWith("#")) return name;
    const attribute = names[name];
    if (attribute === undefined) throw new Error(`${name} has no name in ${expression}`);
    return attribute;
  });
