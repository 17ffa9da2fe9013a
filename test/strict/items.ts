import * as z from "#zod";
import type { Forward } from "./wire.ts";

/** An item or a key in DynamoDB's own notation: `{ pk: { S: "wallet#acc_1" } }`. */
export const item = z.record(z.string(), z.record(z.string(), z.unknown()));
export type Item = z.infer<typeof item>;

/** The string in an attribute; undefined where there is none. All keys of our tables are strings. */
export const stringIn = (of: Item | undefined, attribute: string): string | undefined => {
  const value = of?.[attribute]?.S;
  return typeof value === "string" ? value : undefined;
};

/** A secondary index: its keys, and the attributes that it holds. */
export type IndexShape = {
  readonly name: string;
  readonly partition: string;
  readonly sort: string | undefined;
  readonly attributes: readonly string[];
};
/** What the layer must know of a table to work on its requests. */
export type TableShape = {
  readonly partition: string;
  readonly sort: string | undefined;
  readonly indexes: readonly IndexShape[];
};

/** Names an item by its table and its key. */
export const itemId = (table: string, { partition, sort }: TableShape, key: Item): string =>
  JSON.stringify([table, stringIn(key, partition), ...(sort === undefined ? [] : [stringIn(key, sort)])]);

const keySchema = z.array(z.object({ AttributeName: z.string(), KeyType: z.enum(["HASH", "RANGE"]) }));
const description = z.object({
  Table: z.object({
    KeySchema: keySchema,
    GlobalSecondaryIndexes: z._default(
      z.array(
        z.object({
          IndexName: z.string(),
          KeySchema: keySchema,
          Projection: z.object({
            ProjectionType: z.enum(["KEYS_ONLY", "INCLUDE"]),
            NonKeyAttributes: z._default(z.array(z.string()), []),
          }),
        }),
      ),
      [],
    ),
  }),
});

/** Asks the emulator for the shape of a table, once. */
export const tableShapes = (forward: Forward): ((table: string) => Promise<TableShape>) => {
  const known = new Map<string, Promise<TableShape>>();
  return (table) => {
    const shape = known.get(table) ?? describe(forward, table);
    known.set(table, shape);
    // A table that is not there yet is asked for again.
    shape.catch(() => known.delete(table));
    return shape;
  };
};

const describe = async (forward: Forward, table: string): Promise<TableShape> => {
  const { body } = await forward("DescribeTable", JSON.stringify({ TableName: table }));
  const { KeySchema, GlobalSecondaryIndexes } = description.parse(JSON.parse(body)).Table;
  const keyOf = (type: string) => KeySchema.find(({ KeyType }) => KeyType === type)?.AttributeName;
  const [partition = "", ownSort] = [keyOf("HASH"), keyOf("RANGE")];
  const indexes = GlobalSecondaryIndexes.map(({ IndexName: name, KeySchema: schema, Projection }): IndexShape => {
    const attributeOf = (type: string) => schema.find(({ KeyType }) => KeyType === type)?.AttributeName;
    const [hash = "", sort] = [attributeOf("HASH"), attributeOf("RANGE")];
    const keys = [partition, ownSort, hash, sort].filter((key) => key !== undefined);
    const attributes = [...keys, ...Projection.NonKeyAttributes];
    return { name, partition: hash, sort, attributes };
  });
  return { partition, sort: ownSort, indexes };
};
