import { NumberValueImpl } from "@aws-sdk/util-dynamodb";
import fc from "fast-check";

/** Among them names that mean something in JavaScript, in DynamoDB's JSON or in the order of an object's members. */
const name = fc.oneof(
  { weight: 60, arbitrary: fc.string({ minLength: 1, maxLength: 8, unit: "grapheme" }) },
  { weight: 30, arbitrary: fc.constantFrom("pk", "#counter", ":one", "B", "S", "10", "2", "toJSON", "toString", "") },
  { weight: 1, arbitrary: fc.constantFrom("constructor", "__proto__", "__type") },
);

const text = fc.oneof(
  fc.string({ maxLength: 20, unit: "grapheme" }),
  fc.string({ maxLength: 20, unit: "binary" }),
  fc.constantFrom("", "\u0000\u001f\u007f", "\ud800", "a\udc00b", '"\\/', "\u2028\u2029", "ẞ€😀"),
);

const number = fc.oneof(
  fc.integer(),
  fc.double({ min: -1e9, max: 1e9 }),
  fc.constantFrom(0, -0, 1e-7, 5e-324, 0.1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER),
);

class Account {
  readonly id = "a";
}

/** Values that the marshaller treats specially, or refuses. */
const unusual = fc.oneof(
  fc.constantFrom<unknown>(Number.NaN, Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER + 1, -1e21),
  fc.bigInt(),
  fc.uint8Array({ maxLength: 9 }),
  fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes)),
  fc.array(text, { maxLength: 3 }).map((items) => new Set(items)),
  fc.array(number, { maxLength: 3 }).map((items) => new Set(items)),
  fc.array(fc.uint8Array({ maxLength: 4 }), { maxLength: 3 }).map((items) => new Set(items)),
  fc.array(fc.tuple(name, text), { maxLength: 3 }).map((entries) => new Map(entries)),
  text.map((value) => Object(value)),
  fc.constantFrom<unknown>(
    new Date(0),
    () => 1,
    Symbol.iterator,
    new Account(),
    NumberValueImpl.from("12345678901234567890"),
  ),
);

/** An object with these own members, `__proto__` included. */
const objectOf = (entries: readonly (readonly [string, unknown])[]): object => {
  const object = {};
  for (const [key, value] of entries) {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return object;
};

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 60, arbitrary: text },
    { weight: 40, arbitrary: number },
    { weight: 20, arbitrary: fc.constantFrom<unknown>(true, false, null, undefined) },
    { weight: 1, arbitrary: unusual },
    { weight: 15, arbitrary: fc.array(tie("value"), { maxLength: 4 }) },
    { weight: 15, arbitrary: fc.array(fc.tuple(name, tie("value")), { maxLength: 4 }).map(objectOf) },
  ),
}));

const attributes = fc.array(fc.tuple(name, value), { maxLength: 4 }).map(objectOf);
const names = fc.array(fc.tuple(name, text), { maxLength: 3 }).map(objectOf);

const rarely = <Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.oneof({ weight: 19, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

/** Members in any order, some of them absent, undefined or of another kind. */
const members = (of: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<Record<string, unknown>> =>
  fc
    .tuple(
      fc.shuffledSubarray(Object.keys(of), { minLength: Math.ceil(Object.keys(of).length / 2) }),
      fc.record(of),
      rarely(fc.tuple(fc.constantFrom(...Object.keys(of)), fc.constantFrom<unknown>(undefined, null, 5, {}))),
    )
    .map(([present, given, replaced]) => ({
      ...Object.fromEntries(present.map((key) => [key, given[key]])),
      ...(replaced && { [replaced[0]]: replaced[1] }),
    }));

const expression = fc.oneof(fc.constantFrom("ADD #counter :one", "attribute_exists(pk)"), text);
const table = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom("access", "ledger") },
  { weight: 1, arbitrary: fc.constant("arn:aws:dynamodb:eu-west-1:210987654321:table/ledger") },
);
const condition = {
  ConditionExpression: expression,
  ExpressionAttributeNames: names,
  ExpressionAttributeValues: attributes,
  ReturnValuesOnConditionCheckFailure: fc.constantFrom("ALL_OLD", "NONE"),
};

export const updateInput = members({
  TableName: table,
  Key: attributes,
  UpdateExpression: expression,
  ReturnValues: fc.constantFrom("ALL_NEW", "NONE"),
  ...condition,
});

export const transactWriteInput = fc.record({
  TransactItems: fc.array(
    fc.oneof(
      {
        weight: 20,
        arbitrary: members({ Key: attributes, TableName: table, UpdateExpression: expression, ...condition }).map(
          (Update) => ({ Update }),
        ),
      },
      { weight: 20, arbitrary: members({ Item: attributes, TableName: table, ...condition }).map((Put) => ({ Put })) },
      { weight: 1, arbitrary: members({ Key: attributes, TableName: table }).map((Delete) => ({ Delete })) },
      {
        weight: 1,
        arbitrary: members({ Key: attributes, TableName: table, ...condition }).map((ConditionCheck) => ({
          ConditionCheck,
        })),
      },
      { weight: 1, arbitrary: fc.constantFrom({}, undefined, { Put: undefined }) },
    ),
    { maxLength: 3 },
  ),
  // Without one the SDK generates a random one, and the short path leaves the call to it.
  ClientRequestToken: fc.uuid(),
  ReturnConsumedCapacity: rarely(fc.constant("TOTAL")),
});

/** A value in DynamoDB's JSON, also one that DynamoDB does not send. */
const { stored } = fc.letrec<{ stored: unknown }>((tie) => ({
  stored: fc.oneof(
    { depthSize: "small" },
    { weight: 12, arbitrary: text.map((S) => ({ S })) },
    { weight: 8, arbitrary: number.map((N) => ({ N: String(N) })) },
    { weight: 3, arbitrary: fc.boolean().map((BOOL) => ({ BOOL })) },
    { weight: 2, arbitrary: fc.constant({ NULL: true }) },
    { weight: 3, arbitrary: fc.array(tie("stored"), { maxLength: 4 }).map((L) => ({ L })) },
    {
      weight: 3,
      arbitrary: fc.array(fc.tuple(name, tie("stored")), { maxLength: 4 }).map((entries) => ({ M: objectOf(entries) })),
    },
    { weight: 1, arbitrary: fc.array(text, { maxLength: 3 }).map((SS) => ({ SS })) },
    { weight: 1, arbitrary: fc.array(number.map(String), { maxLength: 3 }).map((NS) => ({ NS })) },
    { weight: 1, arbitrary: fc.base64String({ maxLength: 8 }).map((B) => ({ B })) },
    { weight: 1, arbitrary: fc.array(fc.base64String({ maxLength: 8 }), { maxLength: 2 }).map((BS) => ({ BS })) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<unknown>(
        ...[{ N: "12345678901234567890" }, { N: "1e400" }, { N: "abc" }, { N: 5 }, { NULL: false }, { S: null }],
        ...[{}, { X: "1" }, { S: "a", N: "1" }, { S: 1 }, { L: [null] }, { M: "text" }, "text", null, 7, []],
      ),
    },
  ),
}));

const storedItem = fc.array(fc.tuple(name, stored), { maxLength: 5 }).map(objectOf);

const headers = fc.record(
  {
    "x-amzn-requestid": fc.uuid(),
    "x-amz-id-2": fc.constant("id-2"),
    // Any number, because the SDK does not check it.
    "x-amz-crc32": fc.nat().map(String),
    // Seconds by which DynamoDB's clock differs.
    date: fc.constantFrom("0", "-3", "400", "-7000", "not a date"),
    age: fc.constant("5"),
    "x-amz-retry-after": fc.constantFrom("1", "soon"),
  },
  { requiredKeys: ["x-amzn-requestid"] },
);

const errorType = fc.constantFrom(
  ...["ConditionalCheckFailedException", "TransactionCanceledException", "TransactionConflictException"],
  ...["TransactionInProgressException", "ThrottlingException", "ProvisionedThroughputExceededException"],
  ...["ExpiredTokenException", "InvalidSignatureException", "ValidationException", "InternalServerError", "Unknown"],
);

/** How an attempt ends. */
export type AttemptResult =
  | {
      readonly kind: "response";
      readonly status: number;
      readonly headers: Record<string, string>;
      readonly body: string;
    }
  /** The body ends with an error after its first bytes. */
  | {
      readonly kind: "broken_off";
      readonly status: number;
      readonly headers: Record<string, string>;
      readonly body: string;
    }
  | { readonly kind: "error"; readonly code: string; readonly name: string };

const json = (arbitrary: fc.Arbitrary<unknown>) => arbitrary.map((body) => JSON.stringify(body));

const okBody = fc.oneof(
  { weight: 10, arbitrary: json(fc.record({ Attributes: storedItem })) },
  { weight: 10, arbitrary: fc.constant("{}") },
  { weight: 1, arbitrary: json(fc.record({ Attributes: stored })) },
  {
    weight: 1,
    arbitrary: json(fc.record({ Attributes: storedItem, ConsumedCapacity: fc.constant({ TableName: "ledger" }) })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("", "{", "null", "[]", '"text"', "5", '{"Attributes":null}', '{"__type":"x"}'),
  },
);
const errorBody = fc.oneof(
  {
    weight: 8,
    arbitrary: json(
      fc.record(
        {
          __type: errorType.map((type) => `com.amazonaws.dynamodb.v20120810#${type}`),
          message: text,
          Item: storedItem,
          CancellationReasons: fc.array(
            fc.record({
              Code: fc.constantFrom("None", "ConditionalCheckFailed", "TransactionConflict"),
              Item: storedItem,
            }),
            { maxLength: 2 },
          ),
        },
        { requiredKeys: ["__type"] },
      ),
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom("", "<html>", "{}") },
);

const ok: fc.Arbitrary<AttemptResult> = fc.record({
  kind: fc.constant("response"),
  status: fc.oneof({ weight: 19, arbitrary: fc.constant(200) }, { weight: 1, arbitrary: fc.constant(201) }),
  headers,
  body: okBody,
});

export const attemptResult: fc.Arbitrary<AttemptResult> = fc.oneof(
  { weight: 24, arbitrary: ok },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("response"),
      status: fc.constantFrom(201, 301, 400, 400, 400, 403, 413, 429, 500, 502, 503, 504),
      headers,
      body: errorBody,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("broken_off"), status: fc.constantFrom(200, 400), headers, body: okBody }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<AttemptResult>(
      { kind: "error", code: "ECONNRESET", name: "Error" },
      { kind: "error", code: "EPIPE", name: "TimeoutError" },
      { kind: "error", code: "ETIMEDOUT", name: "TimeoutError" },
      { kind: "error", code: "ENOTFOUND", name: "Error" },
      { kind: "error", code: "ABORT_ERR", name: "AbortError" },
      { kind: "error", code: "CERT_HAS_EXPIRED", name: "Error" },
    ),
  },
);
