import { ResourceNotFoundException } from "@aws-sdk/client-dynamodb";
import { type DynamoDBDocumentClient, ScanCommand, type ScanCommandInput } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { getItems } from "../../shared/ledger/get-item.ts";
import { operatorRetries } from "../../shared/ledger/transact.ts";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { isTransient } from "./transient-error.ts";

/** An item of a table as it is stored. */
export type Item = { readonly pk: string; readonly [name: string]: unknown };
const itemSchema = z.looseObject({ pk: z.string() });

/** Parts of a table that are read at the same time. */
const SEGMENTS = 8;
/** Less than a page may hold, so that it arrives in time also over a slow line. */
const PAGE_ITEMS_MAX = 500;
const PROGRESS_EVERY = 10_000;

/** Tries a read again after a transient error. A table that does not exist is an OperatorError. */
const readWithRetries = async <Result>(table: string, read: () => Promise<Result>): Promise<Result> => {
  const nextAttempt = operatorRetries();
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (error instanceof ResourceNotFoundException) throw new OperatorError(`There is no table ${table}`);
      if (!isTransient(error) || !(await nextAttempt())) throw error;
    }
  }
};

/** Reads a whole table strongly, several segments at a time, and gives each page to `take`, which is awaited. */
export const scanTable = async (
  db: DynamoDBDocumentClient,
  table: string,
  {
    take,
    logProgress,
    projection = {},
  }: {
    readonly take: (items: readonly Item[]) => Promise<void>;
    /** Called with the progress. */
    readonly logProgress: (sentence: string) => void;
    readonly projection?: Pick<ScanCommandInput, "ProjectionExpression" | "ExpressionAttributeNames">;
  },
): Promise<void> => {
  let done = 0;
  const readSegment = async (Segment: number): Promise<void> => {
    const input = {
      ...{ TableName: table, ConsistentRead: true, Limit: PAGE_ITEMS_MAX },
      ...{ Segment, TotalSegments: SEGMENTS },
      ...projection,
    };
    let start: Record<string, unknown> | undefined;
    do {
      const command = new ScanCommand({ ...input, ...(start && { ExclusiveStartKey: start }) });
      const { Items = [], LastEvaluatedKey } = await readWithRetries(table, () => db.send(command));
      await take(z.array(itemSchema).parse(Items));
      const before = done;
      done += Items.length;
      if (Math.floor(before / PROGRESS_EVERY) < Math.floor(done / PROGRESS_EVERY))
        logProgress(`${table}: ${done} items`);
      start = LastEvaluatedKey;
    } while (start !== undefined);
  };
  await Promise.all(Array.from({ length: SEGMENTS }, (_, segment) => readSegment(segment)));
  logProgress(`${table}: all ${done} items`);
};

/** The items of these keys, read strongly. */
export const readItemMap = async (
  db: DynamoDBDocumentClient,
  table: string,
  pks: readonly string[],
): Promise<ReadonlyMap<string, Item>> => {
  const keys = pks.map((pk) => ({ pk }));
  const items = await readWithRetries(table, () => getItems({ db, table }, keys, itemSchema));
  return new Map(items.map((item) => [item.pk, item]));
};
