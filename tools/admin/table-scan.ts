import { ResourceNotFoundException } from "@aws-sdk/client-dynamodb";
import { type DynamoDBDocument, ScanCommand, type ScanCommandInput } from "@aws-sdk/lib-dynamodb";
import * as z from "#zod";
import { getItemsByPk } from "../../shared/ledger/get-item.ts";
import { operatorRetries } from "../../shared/ledger/transact.ts";
import { allEnded } from "../../shared/platform/all-ended.ts";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { isTransient } from "../../shared/platform/transient-error.ts";

/** An item of a table as it is stored. */
export type Item = { readonly pk: string; readonly [name: string]: unknown };
const itemSchema = z.looseObject({ pk: z.string() });

/** Segments that are read in parallel. */
const SEGMENTS = 8;
/** Less than a full page of 1 MB, so a page arrives before the time-out even over a slow connection. */
const PAGE_ITEMS_MAX = 500;
const PROGRESS_EVERY = 10_000;

/** Retries a read after a transient error. Throws an OperatorError if the table does not exist. */
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

/** Reads a whole table with strong reads and awaits `onPage` for each page. Segments are read in parallel until one fails. */
export const scanTable = async (
  db: DynamoDBDocument,
  table: string,
  {
    onPage,
    logProgress,
    projection = {},
  }: {
    readonly onPage: (items: readonly Item[]) => Promise<void>;
    readonly logProgress: (message: string) => void;
    readonly projection?: Pick<ScanCommandInput, "ProjectionExpression" | "ExpressionAttributeNames">;
  },
): Promise<void> => {
  let count = 0;
  let hasFailed = false;
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
      await onPage(z.array(itemSchema).parse(Items));
      const before = count;
      count += Items.length;
      if (Math.floor(before / PROGRESS_EVERY) < Math.floor(count / PROGRESS_EVERY))
        logProgress(`${table}: ${count} items`);
      start = LastEvaluatedKey;
    } while (start !== undefined && !hasFailed);
  };
  const segments = Array.from({ length: SEGMENTS }, async (_, segment) => {
    try {
      await readSegment(segment);
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  });
  await allEnded(segments);
  logProgress(`${table}: all ${count} items`);
};

/** The items of these keys, by key, from strong reads. */
export const readItemMap = (
  db: DynamoDBDocument,
  table: string,
  pks: readonly string[],
): Promise<ReadonlyMap<string, Item>> => readWithRetries(table, () => getItemsByPk({ db, table }, pks, itemSchema));
