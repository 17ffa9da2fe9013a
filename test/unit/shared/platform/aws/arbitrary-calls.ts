import fc from "fast-check";

/** Among them names that mean something in JavaScript, in DynamoDB's JSON or in the order of an object's members. */
const name = fc.oneof(
  fc.string({ minLength: 1, maxLength: 8, unit: "grapheme" }),
  fc.constantFrom("pk", "#counter", ":one", "B", "BS", "S", "Key", "Item", "10", "2", "toJSON", "toString"),
);
const text = fc.oneof(
  fc.string({ maxLength: 20, unit: "binary" }),
  fc.constantFrom("", "\u0000\u001f\u007f", "\ud800", '"\\/', "\u2028\u2029", "ẞ€😀"),
);
const number = fc.oneof(fc.integer(), fc.double({ min: -1e9, max: 1e9 }), fc.constantFrom(-0, 1e-7, 5e-324, 0.1));
const bytes = fc.uint8Array({ maxLength: 9 });

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 6, arbitrary: text },
    { weight: 4, arbitrary: number },
    { weight: 2, arbitrary: fc.constantFrom<unknown>(true, false, null, undefined) },
    {
      weight: 1,
      arbitrary: fc.oneof(
        bytes,
        bytes.map((data) => Buffer.from(data)),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 3 }).map((items) => new Set(items)),
    },
    { weight: 1, arbitrary: fc.array(bytes, { minLength: 1, maxLength: 3 }).map((items) => new Set(items)) },
    { weight: 2, arbitrary: fc.array(tie("value"), { maxLength: 4 }) },
    { weight: 2, arbitrary: fc.dictionary(name, tie("value"), { maxKeys: 4 }) },
  ),
}));

const attributes = fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: true });
const names = fc.dictionary(name, text, { maxKeys: 3 });
const table = fc.constantFrom("access", "ledger");
const expression = fc.constantFrom("ADD #counter :one", "attribute_exists(pk)");

const members = (of: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<object> =>
  fc.record({ TableName: table, ...of }, { requiredKeys: ["TableName"] });

const condition = {
  ConditionExpression: expression,
  ExpressionAttributeNames: names,
  ExpressionAttributeValues: attributes,
  ReturnValuesOnConditionCheckFailure: fc.constantFrom("ALL_OLD", undefined),
};
const put = { Item: attributes, ...condition };
const update = { Key: attributes, UpdateExpression: expression, ...condition };
const keys = fc.array(attributes, { minLength: 1, maxLength: 3 });

/** Inputs of the document client's methods, of the members that the service's calls have. */
export const inputs = {
  get: members({ Key: attributes, ConsistentRead: fc.boolean() }),
  put: members(put),
  update: members({ ...update, ReturnValues: fc.constantFrom("ALL_NEW", "NONE") }),
  query: members({
    IndexName: text,
    KeyConditionExpression: expression,
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: attributes,
    ExclusiveStartKey: attributes,
    Limit: fc.nat(),
    ScanIndexForward: fc.boolean(),
  }),
  batchGet: fc.record({
    RequestItems: fc.dictionary(
      table,
      fc.record({ Keys: keys, ProjectionExpression: text }, { requiredKeys: ["Keys"] }),
    ),
  }),
  transactWrite: fc.record({
    TransactItems: fc.array(
      fc.oneof(
        members(put).map((Put) => ({ Put })),
        members(update).map((Update) => ({ Update })),
        members({ Key: attributes, ...condition }).map((ConditionCheck) => ({ ConditionCheck })),
      ),
      { maxLength: 3 },
    ),
    // Without one, each client generates its own.
    ClientRequestToken: fc.uuid(),
  }),
} satisfies Record<string, fc.Arbitrary<object>>;
export type Operation = keyof typeof inputs;

const base64 = fc.base64String({ maxLength: 8 });
/** A value in DynamoDB's JSON. */
const { stored } = fc.letrec<{ stored: unknown }>((tie) => ({
  stored: fc.oneof(
    { depthSize: "small" },
    { weight: 6, arbitrary: text.map((S) => ({ S })) },
    { weight: 4, arbitrary: number.map((N) => ({ N: String(N) })) },
    { weight: 1, arbitrary: fc.boolean().map((BOOL) => ({ BOOL })) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>({ NULL: true }, { N: "12345678901234567890" }, { N: "abc" }) },
    { weight: 1, arbitrary: base64.map((B) => ({ B })) },
    { weight: 1, arbitrary: fc.array(base64, { maxLength: 2 }).map((BS) => ({ BS })) },
    { weight: 1, arbitrary: fc.array(text, { maxLength: 3 }).map((SS) => ({ SS })) },
    { weight: 1, arbitrary: fc.array(tie("stored"), { maxLength: 4 }).map((L) => ({ L })) },
    { weight: 1, arbitrary: fc.dictionary(name, tie("stored"), { maxKeys: 4 }).map((M) => ({ M })) },
  ),
}));
const item = fc.dictionary(name, stored, { maxKeys: 5 });
const items = fc.array(item, { maxLength: 3 });

const outputs: Readonly<Record<Operation, fc.Arbitrary<object>>> = {
  get: fc.record({ Item: item }, { requiredKeys: [] }),
  put: fc.record({ Attributes: item }, { requiredKeys: [] }),
  update: fc.record({ Attributes: item }, { requiredKeys: [] }),
  query: fc.record({ Items: items, Count: fc.nat(), ScannedCount: fc.nat(), LastEvaluatedKey: item }),
  batchGet: fc.record({
    Responses: fc.dictionary(table, items),
    UnprocessedKeys: fc.dictionary(table, fc.record({ Keys: items, ConsistentRead: fc.boolean() })),
  }),
  transactWrite: fc.constant({}),
};

const error = (type: string, fields: Readonly<Record<string, fc.Arbitrary<unknown>>> = {}): fc.Arbitrary<object> =>
  fc.record(
    { __type: fc.constant(`com.amazonaws.dynamodb.v20120810#${type}`), message: text, Message: text, ...fields },
    { requiredKeys: ["__type"] },
  );
const reason = fc.record({ Code: fc.constantFrom("None", "ConditionalCheckFailed", "ThrottlingError"), Item: item });
const errorBody = fc.oneof(
  { weight: 3, arbitrary: error("ConditionalCheckFailedException", { Item: item }) },
  {
    weight: 3,
    arbitrary: error("TransactionCanceledException", { CancellationReasons: fc.array(reason, { maxLength: 2 }) }),
  },
  ...[
    ...["TransactionConflictException", "TransactionInProgressException", "ThrottlingException"],
    ...["ProvisionedThroughputExceededException", "RequestLimitExceeded", "ExpiredTokenException"],
    ...["InvalidSignatureException", "ValidationException", "ResourceNotFoundException", "InternalServerError"],
  ].map((type) => ({ weight: 1, arbitrary: error(type) })),
);

/** How an attempt ends. `body`: a text that is no JSON is sent as it is. */
export type AttemptEnd =
  | { readonly kind: "answer"; readonly status: number; readonly clockOffsetS: number; readonly body: string }
  /** The connection ends within the body, or before the answer. */
  | { readonly kind: "broken_off"; readonly at: "body" | "start" };

const answer = (status: fc.Arbitrary<number>, body: fc.Arbitrary<unknown>): fc.Arbitrary<AttemptEnd> =>
  fc
    .record({
      kind: fc.constant("answer"),
      status,
      clockOffsetS: fc.constantFrom(0, 0, 0, 400, -7_000),
      body: body.map((content) => (typeof content === "string" ? content : JSON.stringify(content))),
    })
    .map((end) => (EXPECTED.test(end.body) ? { ...end, clockOffsetS: 0 } : end));

/** The SDK sends a call again after these too, if its clock was 4 minutes off: AWS refuses the signature at 5. */
const EXPECTED = /#(ConditionalCheckFailed|TransactionCanceled|ResourceNotFound)Exception/;

/** The ends of a call's attempts, in order. */
export const attemptEnds = (operation: Operation): fc.Arbitrary<readonly AttemptEnd[]> =>
  fc.array(
    fc.oneof(
      { weight: 6, arbitrary: answer(fc.constant(200), outputs[operation]) },
      { weight: 6, arbitrary: answer(fc.constantFrom(400, 400, 400, 403, 413, 429, 500, 502, 503, 504), errorBody) },
      { weight: 1, arbitrary: answer(fc.constantFrom(200, 301, 400, 503), fc.constantFrom("", "{", "<html>", "null")) },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant("broken_off"), at: fc.constantFrom("body", "start") }),
      },
    ),
    { minLength: 1, maxLength: 3 },
  );
