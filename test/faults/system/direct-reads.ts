import { BatchGetCommand, type DynamoDBDocument, GetCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import * as z from "#zod";
import type { Forward } from "../../strict/wire.ts";
import { processes } from "./clock.ts";

const item = z.pipe(
  z.custom<Parameters<typeof unmarshall>[0]>(),
  z.transform((attributes) => unmarshall(attributes)),
);
const output = z.looseObject({
  Item: z.optional(item),
  Items: z.optional(z.array(item)),
  LastEvaluatedKey: z.optional(item),
  Responses: z.optional(z.record(z.string(), z.array(item))),
});

const bytes = (base64: unknown): Uint8Array => new Uint8Array(Buffer.from(String(base64), "base64"));

/** Binary values and sets of them are sent as base64. An attribute of the name B or BS is an object. */
const decodeBinary = (name: string, value: unknown): unknown => {
  if (name === "B" && typeof value === "string") return bytes(value);
  return name === "BS" && Array.isArray(value) ? value.map(bytes) : value;
};

/** A read as DynamoDB's JSON; undefined for another command. */
const readOf = (command: unknown): readonly [operation: string, request: unknown] | undefined => {
  if (command instanceof GetCommand) {
    return ["GetItem", { ...command.input, Key: marshall(command.input.Key) }];
  }
  if (command instanceof QueryCommand) {
    const { ExpressionAttributeValues: values, ExclusiveStartKey: start, ...rest } = command.input;
    return [
      "Query",
      {
        ...rest,
        ...(values && { ExpressionAttributeValues: marshall(values) }),
        ...(start && { ExclusiveStartKey: marshall(start) }),
      },
    ];
  }
  if (command instanceof BatchGetCommand) {
    const tables = Object.entries(command.input.RequestItems ?? {});
    const marshalled = tables.map(([table, { Keys = [], ...rest }]) => [
      table,
      { ...rest, Keys: Keys.map((key) => marshall(key)) },
    ]);
    return ["BatchGetItem", { ...command.input, RequestItems: Object.fromEntries(marshalled) }];
  }
  return undefined;
};

/**
 * Has the test's own reads bypass the SDK, which takes several times as long as the emulator. What a process reads takes
 * its usual way, and so does what the emulator refuses.
 */
export const withDirectReads = (db: DynamoDBDocument, forward: Forward): DynamoDBDocument => {
  const { send: sendBySdk } = db;
  const send = async (...args: readonly unknown[]): Promise<unknown> => {
    const read = processes.getStore() === undefined ? readOf(args[0]) : undefined;
    if (read === undefined) return Reflect.apply(sendBySdk, db, args);
    const [operation, request] = read;
    const { status, body } = await forward(operation, JSON.stringify(request));
    return status === 200 ? output.parse(JSON.parse(body, decodeBinary)) : Reflect.apply(sendBySdk, db, args);
  };
  return Object.assign(db, { send });
};
