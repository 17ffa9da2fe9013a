import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { type TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";

/** The commands that have a short path. */
export type Command = UpdateCommand | TransactWriteCommand;

/** Writes a value as DynamoDB's JSON; throws where the short path leaves a value to the SDK. */
type Write = (value: unknown) => unknown;
type Plain = Readonly<Record<string, unknown>>;

const refuse = (): never => {
  throw new Error("This value is left to the SDK");
};

/** Not an instance of a class, and without the names that the SDK treats differently. */
const isPlain = (value: unknown): value is Plain => {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return !Object.hasOwn(value, "constructor") && !Object.hasOwn(value, "__proto__");
};

/** Writes the members of an object that are not undefined, in the object's order or in that of `order`. */
const members = (value: unknown, writeOf: (name: string) => Write, order?: readonly string[]): Plain => {
  if (!isPlain(value)) return refuse();
  const written: Record<string, unknown> = {};
  for (const name of order ?? Object.keys(value)) {
    if (value[name] !== undefined) written[name] = writeOf(name)(value[name]);
  }
  return written;
};

const text: Write = (value) => (typeof value === "string" ? value : refuse());
const attributes: Write = (value) => members(value, () => attribute);

/** By the rules of `marshall` with `removeUndefinedValues`. */
const attribute: Write = (value) => {
  if (typeof value === "string") return { S: value };
  if (typeof value === "number") return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? { N: String(value) } : refuse();
  if (typeof value === "boolean") return { BOOL: value };
  if (value === null) return { NULL: true };
  if (Array.isArray(value)) return { L: value.filter((item) => item !== undefined).map(attribute) };
  return { M: attributes(value) };
};

/** Writes the members in the order of the shape, which is the SDK's; refuses others. */
const struct = (shape: Readonly<Record<string, Write>>): Write => {
  const order = Object.keys(shape);
  return (value) => {
    if (Object.entries(Object(value)).some(([name, member]) => member !== undefined && !(name in shape))) refuse();
    return members(value, (name) => shape[name] ?? refuse, order);
  };
};

/** A table that is named by its ARN may have another endpoint. */
const table: Write = (value) => (typeof value === "string" && !value.startsWith("arn:") ? value : refuse());

const condition = {
  ConditionExpression: text,
  ExpressionAttributeNames: (value: unknown) => members(value, () => text),
  ExpressionAttributeValues: attributes,
  ReturnValuesOnConditionCheckFailure: text,
};
const update = struct({ TableName: table, Key: attributes, ReturnValues: text, UpdateExpression: text, ...condition });
const transactItem = struct({
  Put: struct({ Item: attributes, TableName: table, ...condition }),
  Update: struct({ Key: attributes, UpdateExpression: text, TableName: table, ...condition }),
});
const transactWrite = struct({
  TransactItems: (items) => (Array.isArray(items) ? items.map(transactItem) : refuse()),
  ClientRequestToken: text,
});

/** The body that the SDK writes; undefined for an input that is left to the SDK. */
export const bodyOf = (command: Command): Buffer | undefined => {
  // The SDK generates a token for a transaction that has none.
  if (!(command instanceof UpdateCommand) && command.input.ClientRequestToken === undefined) return undefined;
  try {
    const write = command instanceof UpdateCommand ? update : transactWrite;
    return Buffer.from(JSON.stringify(write(command.input)));
  } catch {
    return undefined;
  }
};

/** A name with a meaning in JavaScript, and escapes, which could conceal it. */
const LEFT_TO_SDK = /"__proto__"|\\u/;

/** Decodes binary values from Base64. An attribute whose own name is `B` or `BS` has an object as its value. */
const withBinary = (name: string, value: unknown): unknown => {
  if (name === "BS" && Array.isArray(value)) return value.map((one) => withBinary("B", one));
  if (name !== "B" || typeof value !== "string") return value;
  const bytes = Buffer.from(value, "base64");
  return bytes.toString("base64") === value ? new Uint8Array(bytes) : refuse();
};

export type Output = { readonly Attributes?: Readonly<Record<string, unknown>> };

/** The output that the SDK reads in the body of a 200; undefined for a body that is left to the SDK. */
export const outputOf = (command: Command, body: string): Output | undefined => {
  if (LEFT_TO_SDK.test(body)) return undefined;
  try {
    const { Attributes, ...others }: { Attributes?: Record<string, AttributeValue> } = JSON.parse(body, withBinary);
    if (Object.keys(others).length > 0) return undefined;
    if (Attributes === undefined) return {};
    return command instanceof UpdateCommand && isPlain(Attributes) ? { Attributes: unmarshall(Attributes) } : undefined;
  } catch {
    return undefined;
  }
};
