import * as z from "#zod";
import { type Item, item, itemId, type TableShape } from "./items.ts";

/** One item that a request writes or checks. */
export type Write = {
  readonly table: string;
  readonly key: Item;
  /** Table and key as one text. */
  readonly id: string;
  /** Names of the indexes that the write may have to change. */
  readonly indexes: readonly string[];
  /** False for a condition check. */
  readonly changes: boolean;
};

const single = z.object({
  TableName: z.string(),
  Item: z.optional(item),
  Key: z.optional(item),
  UpdateExpression: z.optional(z.string()),
  ExpressionAttributeNames: z._default(z.record(z.string(), z.string()), {}),
});
type Single = z.infer<typeof single>;

const transaction = z.object({
  ClientRequestToken: z.optional(z.string()),
  TransactItems: z
    .array(z.partialRecord(z.enum(["Put", "Update", "Delete", "ConditionCheck"]), single))
    .check(z.minLength(1)),
});

type Shapes = (table: string) => Promise<TableShape>;

/** What a PutItem, an UpdateItem or a DeleteItem writes. */
export const singleWrite = async (shapes: Shapes, operation: string, body: unknown): Promise<Write> =>
  writeOf(shapes, operation.replace(/Item$/, ""), single.parse(body));

/** What a TransactWriteItems writes, in its order. */
export const transactionWrites = (shapes: Shapes, body: unknown): Promise<Write[]> =>
  Promise.all(
    transaction.parse(body).TransactItems.map((actions) => {
      const [[kind, action], ...others] = z
        .tuple([z.tuple([z.string(), single])], z.unknown())
        .parse(Object.entries(actions));
      if (others.length > 0) throw new Error("An item of a transaction has more than one action");
      return writeOf(shapes, kind, action);
    }),
  );

const writeOf = async (shapes: Shapes, kind: string, action: Single): Promise<Write> => {
  const shape = await shapes(action.TableName);
  const { partition, sort, indexes } = shape;
  const keyAttributes = [partition, ...(sort === undefined ? [] : [sort])];
  const key = Object.fromEntries(keyAttributes.map((name) => [name, (action.Key ?? action.Item)?.[name] ?? {}]));
  const changed = changedAttributes(kind, action);
  const touched = indexes.filter(({ attributes }) =>
    attributes.some((attribute) => attribute !== partition && changed(attribute)),
  );
  return {
    table: action.TableName,
    key,
    id: itemId(action.TableName, shape, key),
    indexes: touched.map(({ name }) => name),
    changes: kind !== "ConditionCheck",
  };
};

/** Tells whether a write may change an attribute. A deletion may change all. */
const changedAttributes = (kind: string, action: Single): ((attribute: string) => boolean) => {
  if (kind === "Put") return (attribute) => action.Item?.[attribute] !== undefined;
  if (kind === "Delete") return () => true;
  if (kind === "ConditionCheck") return () => false;
  const words = (action.UpdateExpression ?? "").match(/[#\w]+/g) ?? [];
  const named = new Set(words.map((word) => action.ExpressionAttributeNames[word] ?? word));
  return (attribute) => named.has(attribute);
};
