import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type {
  BatchGetCommandOutput,
  GetCommandOutput,
  QueryCommandOutput,
  UpdateCommandOutput,
} from "@aws-sdk/lib-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";

type Attributes = Readonly<Record<string, AttributeValue>>;

/** What is read of the outputs of DynamoDB's operations. */
export type DocumentOutput = Partial<Pick<GetCommandOutput, "$metadata">> &
  Pick<GetCommandOutput, "Item"> &
  Pick<UpdateCommandOutput, "Attributes"> &
  Partial<Pick<QueryCommandOutput, "Items" | "Count" | "LastEvaluatedKey">> &
  Pick<BatchGetCommandOutput, "Responses" | "UnprocessedKeys">;

const mapValues = <Value, Mapped>(
  object: Readonly<Record<string, Value>>,
  map: (value: Value, name: string) => Mapped,
): Record<string, Mapped> =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value, name)]));

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

const marshalled = (value: unknown): unknown =>
  isObject(value) ? marshall(value, { removeUndefinedValues: true }) : value;
const listed = (value: unknown, map: (item: unknown) => unknown): unknown =>
  Array.isArray(value) ? value.map(map) : value;

/** How the members of an input are written that hold attributes. */
const written: Readonly<Record<string, (value: unknown) => unknown>> = {
  Key: marshalled,
  Item: marshalled,
  ExpressionAttributeValues: marshalled,
  ExclusiveStartKey: marshalled,
  Keys: (keys) => listed(keys, marshalled),
  RequestItems: (tables) => (isObject(tables) ? mapValues(tables, withAttributes) : tables),
  TransactItems: (items) => listed(items, (item) => (isObject(item) ? mapValues(item, withAttributes) : item)),
};
const withAttributes = (input: unknown): unknown =>
  isObject(input) ? mapValues(input, (value, name) => written[name]?.(value) ?? value) : input;

/** DynamoDB's JSON of a document client's input. */
export const documentInput: (input: object) => unknown = withAttributes;

type DocumentAnswer = {
  readonly Item?: Attributes;
  readonly Attributes?: Attributes;
  readonly LastEvaluatedKey?: Attributes;
  readonly Items?: readonly Attributes[];
  readonly Responses?: Readonly<Record<string, readonly Attributes[]>>;
  readonly UnprocessedKeys?: Readonly<Record<string, { readonly Keys: readonly Attributes[] }>>;
};

/** A document client's output of DynamoDB's JSON. */
export const documentOutput = (answer: DocumentAnswer): DocumentOutput => {
  const { Item, Attributes, LastEvaluatedKey, Items, Responses, UnprocessedKeys, ...others } = answer;
  const all = (items: readonly Attributes[]) => items.map((item) => unmarshall(item));
  const output: DocumentOutput = {
    ...others,
    ...(Item && { Item: unmarshall(Item) }),
    ...(Attributes && { Attributes: unmarshall(Attributes) }),
    ...(LastEvaluatedKey && { LastEvaluatedKey: unmarshall(LastEvaluatedKey) }),
    ...(Responses && { Responses: mapValues(Responses, all) }),
    ...(UnprocessedKeys && {
      UnprocessedKeys: mapValues(UnprocessedKeys, ({ Keys, ...table }) => ({ ...table, Keys: all(Keys) })),
    }),
  };
  // Unmarshalled when they are first read: a reader of several pages requests the next one before.
  let items: DocumentOutput["Items"];
  if (Items) Object.defineProperty(output, "Items", { enumerable: true, get: () => (items ??= all(Items)) });
  return output;
};

/** Bytes are in binary attributes. Visiting each value takes several times as long as the text, and most texts have none. */
const hasBytes = (text: string): boolean => /"BS?"/.test(text);

/** The text of an input. Binary attributes are sent as Base64. */
export const textOf = (input: unknown): string => {
  const text = JSON.stringify(input);
  return hasBytes(text) ? JSON.stringify(input, withBase64) : text;
};

function withBase64(this: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  // A Buffer has been converted by its toJSON in `value`.
  const own = this[name];
  return own instanceof Uint8Array ? base64Of(own) : value;
}

export const base64Of = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

/** An attribute whose own name is `B` or `BS` has an object as its value. */
const decodeBinary = (json: Record<string, unknown>): void => {
  for (const [name, value] of Object.entries(json)) {
    if (name === "B" && typeof value === "string") json[name] = bytesOf(value);
    else if (name === "BS" && Array.isArray(value)) json[name] = value.map(bytesOf);
    else if (isObject(value)) decodeBinary(value);
  }
};

/** An answer of JSON. Its binary attributes are decoded afterwards: a reviver of `JSON.parse` takes four times as long. */
export const parsedAnswer = (text: string) => {
  const answer = JSON.parse(text);
  if (hasBytes(text)) decodeBinary(answer);
  return answer;
};

export const bytesOf = (base64: string): Uint8Array => new Uint8Array(Buffer.from(base64, "base64"));
