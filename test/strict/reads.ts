import * as z from "#zod";
import { badKeyAnswer, throttledAnswer } from "./answers.ts";
import type { Counted } from "./counts.ts";
import { type History, TABLE_VIEW } from "./history.ts";
import { laggingQuery } from "./index-query.ts";
import { type Item, item, itemId, type TableShape } from "./items.ts";
import type { Throttled, Throttles } from "./throttles.ts";
import type { Forward, WireAnswer } from "./wire.ts";

/** Answers reads: throttled, as the table was a while ago, or as the emulator does. */
export const newReads = ({
  forward,
  shapes,
  history,
  throttles,
  counted,
  lags,
}: {
  readonly forward: Forward;
  readonly shapes: (table: string) => Promise<TableShape>;
  readonly history: History;
  readonly throttles: Throttles;
  readonly counted: Counted;
  readonly lags: boolean;
}): Forward => {
  const idOf = async (table: string, key: Item): Promise<string> => itemId(table, await shapes(table), key);
  const refused = (throttled: Throttled): WireAnswer => counted("throttled", throttledAnswer(throttled));

  const getItem = async (body: string): Promise<WireAnswer> => {
    const { TableName: table, Key, ConsistentRead, ProjectionExpression } = getBody.parse(JSON.parse(body));
    const id = await idOf(table, Key);
    const throttled = throttles.refusalOf({ kind: "Read", table, id, indexes: [] });
    if (throttled !== undefined) return refused(throttled);
    const former = ConsistentRead ? undefined : history.former({ table, id }, TABLE_VIEW);
    if (former === undefined) return forward("GetItem", body);
    if (ProjectionExpression !== undefined) throw new Error("a stale read of some attributes");
    const { image } = former;
    return counted("stale_read", { status: 200, body: JSON.stringify(image === undefined ? {} : { Item: image }) });
  };

  const query = async (body: string): Promise<WireAnswer> => {
    const { TableName: table, IndexName: index, ...keys } = queryTarget.parse(JSON.parse(body));
    const texts = [keys.ExpressionAttributeValues, keys.ExclusiveStartKey].flatMap((of) => Object.values(of));
    if (texts.some(({ S }) => typeof S === "string" && !isKey(S))) return badKeyAnswer;
    const indexKeys = Object.values(keys.ExpressionAttributeValues).flatMap(({ S }) =>
      typeof S === "string" ? [S] : [],
    );
    const throttled = throttles.refusalOf({
      kind: "Read",
      table,
      indexes: index === undefined ? [] : [index],
      indexKeys,
    });
    if (throttled !== undefined) return refused(throttled);
    if (index === undefined) {
      if (!keys.ConsistentRead) throw new Error("a query of a table without ConsistentRead");
      return forward("Query", body);
    }
    const behind = history.behind(table, index);
    if (behind.size === 0) return forward("Query", body);
    const lagging = await laggingQuery(forward, await shapes(table), JSON.parse(body), behind);
    return lagging === undefined ? forward("Query", body) : counted("stale_read", lagging);
  };

  /** What is throttled of a batch is left out and named; where that is all of it, the call is refused. */
  const batchGetItem = async (body: string): Promise<WireAnswer> => {
    const { RequestItems, ...request } = batchBody.parse(JSON.parse(body));
    const taken: Record<string, Batch> = {};
    const left: Record<string, Batch> = {};
    let refusal: Throttled | undefined;
    for (const [table, { Keys, ...how }] of Object.entries(RequestItems)) {
      for (const key of Keys) {
        const touch = { kind: "Read" as const, table, id: await idOf(table, key), indexes: [] };
        const throttled = throttles.refusalOf(touch);
        refusal ??= throttled;
        const part = throttled === undefined ? taken : left;
        part[table] = { ...how, Keys: [...(part[table]?.Keys ?? []), key] };
      }
    }
    if (refusal === undefined) return forward("BatchGetItem", body);
    if (Object.keys(taken).length === 0) return refused(refusal);
    const answer = await forward("BatchGetItem", JSON.stringify({ ...request, RequestItems: taken }));
    if (answer.status !== 200) return answer;
    const found = z.looseObject({}).parse(JSON.parse(answer.body));
    return counted("throttled", { status: 200, body: JSON.stringify({ ...found, UnprocessedKeys: left }) });
  };

  return async (operation, body) => {
    if (operation === "GetItem") return getItem(body);
    if (operation === "Query") return query(body);
    if (lags && !isStrong(operation, body)) throw new Error("without ConsistentRead");
    return operation === "BatchGetItem" ? batchGetItem(body) : forward(operation, body);
  };
};

const getBody = z.object({
  TableName: z.string(),
  Key: item,
  ConsistentRead: z._default(z.boolean(), false),
  ProjectionExpression: z.optional(z.string()),
});
/** All values of our queries are keys. Source: AWS, "Constraints in Amazon DynamoDB", partition keys. */
const isKey = (text: string): boolean => text !== "" && Buffer.byteLength(text) <= 2_048;

const queryTarget = z.object({
  TableName: z.string(),
  IndexName: z.optional(z.string()),
  ConsistentRead: z._default(z.boolean(), false),
  ExpressionAttributeValues: z._default(item, {}),
  ExclusiveStartKey: z._default(item, {}),
});

const batch = z.looseObject({ Keys: z.array(item) });
type Batch = z.infer<typeof batch>;
const batchBody = z.looseObject({ RequestItems: z.record(z.string(), batch) });

const strongly = z.looseObject({ ConsistentRead: z.literal(true) });
const strongBatch = z.looseObject({ RequestItems: z.record(z.string(), strongly) });
const isStrong = (operation: string, body: string): boolean =>
  (operation === "Scan" ? strongly : strongBatch).safeParse(JSON.parse(body)).success;
