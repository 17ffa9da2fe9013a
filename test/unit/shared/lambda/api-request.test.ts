import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import * as z from "#zod";
import { ServiceError } from "../../../../shared/contract/errors.ts";
import { bvnVerifyRequest, ninVerifyRequest, retrieveRequest } from "../../../../shared/contract/identity.ts";
import { airtimePurchaseRequest, dataPurchaseRequest } from "../../../../shared/contract/purchase.ts";
import { transactionPath, transactionQuery } from "../../../../shared/contract/transaction-query.ts";
import { apiEvent, apiRequest, callRequest, parseInput } from "../../../../shared/lambda/api-request.ts";
import { type ApiEventChanges, anApiEvent } from "../../../builders/aws/api-event.ts";

const order = { network_id: 1, plan_id: 101, phone_number: "08031234567" };

const posted = (changes: ApiEventChanges) =>
  apiEvent.parse(anApiEvent({ method: "POST", path: "/v1/vtu/data/purchase", ...changes }));
const parseBody = (body: string | undefined, changes: ApiEventChanges = {}) =>
  parseInput(dataPurchaseRequest, posted({ ...(body !== undefined && { body }), ...changes }));
const parseOrder = (fields: Readonly<Record<string, unknown>>, changes: ApiEventChanges = {}) =>
  parseBody(JSON.stringify({ ...order, ...fields }), changes);

/** The code and the message of a refusal, and the fields that it names. */
const refusalOf = (parse: () => unknown): { code: string; fields: readonly string[]; message: string } => {
  try {
    parse();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { code: error.code, fields: Object.keys(error.details.fields ?? {}), message: error.message };
  }
  throw new Error("It was accepted");
};

const messagesOf = (parse: () => unknown): unknown => {
  try {
    return parse();
  } catch (error) {
    return error instanceof ServiceError ? error.details.fields : error;
  }
};

/** A valid body of exactly this many bytes, most of them in an unknown field. */
const bodyOfBytes = (bytes: number, filler = "x"): string => {
  const head = `${JSON.stringify(order).slice(0, -1)},"note":"`;
  const room = bytes - head.length - '"}'.length;
  const count = Math.floor(room / Buffer.byteLength(filler));
  return `${head}${filler.repeat(count)}"}${" ".repeat(room - count * Buffer.byteLength(filler))}`;
};

/** `{"a":{"a":...1}}` with this many braces. */
const nested = (braces: number): string => `${'{"a":'.repeat(braces)}1${"}".repeat(braces)}`;

test("a valid body becomes its 3 fields, and an unknown fourth is ignored", () => {
  expect(parseOrder({ note: "for Ada" })).toEqual(order);
});

test.for([
  ["is absent", undefined],
  ["is empty", ""],
  ["is blank", "  "],
  ["is a single brace", "{"],
  ["is an array", "[]"],
  ["is an array of orders", JSON.stringify([order])],
  ["is null", "null"],
  ["is a string", '"order"'],
  ["is a number", "7"],
  ["is true", "true"],
  ["is a form", "network_id=1&plan_id=101"],
  ["has a comma too many", '{"network_id":1,}'],
  ["has something behind the object", `${JSON.stringify(order)}x`],
  ["is two objects", `${JSON.stringify(order)}${JSON.stringify(order)}`],
  ["begins with two byte order marks", `\uFEFF\uFEFF${JSON.stringify(order)}`],
  ["is of 17 KB", bodyOfBytes(17 * 1_024)],
  ["is of 16 KB and 1 byte", bodyOfBytes(16_385)],
  ["is of 16 KB and 1 byte in characters of 2 bytes", bodyOfBytes(16_385, "é")],
  [
    "has a field __proto__",
    '{"network_id":1,"plan_id":101,"phone_number":"08031234567","__proto__":{"reference":"a"}}',
  ],
  ["has a field __proto__ inside another", '{"network_id":1,"meta":{"deep":[{"__proto__":1}]}}'],
  ["is nested 17 levels deep", `{"network_id":1,"meta":${nested(16)}}`],
  ["is nested 17 levels deep, the last of them empty", `{"network_id":1,"meta":${"[".repeat(16)}${"]".repeat(16)}}`],
  ["is nested 2,600 levels deep", `{"network_id":1,"meta":${nested(2_600)}}`],
  ["is an object in 8,000 arrays", `{"meta":${"[".repeat(8_000)}${"]".repeat(8_000)}}`],
] as const)("invalid_json refuses a body that %s", ([, body]) => {
  expect(refusalOf(() => parseBody(body))).toMatchObject({ code: "invalid_json", fields: [] });
});

test.for([
  ["is of exactly 16 KB", bodyOfBytes(16_384)],
  ["is of exactly 16 KB in characters of 2 bytes", bodyOfBytes(16_384, "é")],
  ["is nested 16 levels deep", `${JSON.stringify(order).slice(0, -1)},"meta":${nested(15)}}`],
  [
    "is nested 16 levels deep, the last of them empty",
    `${JSON.stringify(order).slice(0, -1)},"meta":${"[".repeat(15)}${"]".repeat(15)}}`,
  ],
  ["begins with a byte order mark", `\uFEFF${JSON.stringify(order)}`],
  ["is JSON although its Content-Encoding says gzip", JSON.stringify(order), { "content-encoding": "gzip" }],
  ["has a field twice, of which the last counts", `{"plan_id":1,${JSON.stringify(order).slice(1)}`],
  ["has a field constructor", `${JSON.stringify(order).slice(0, -1)},"constructor":1,"toString":2}`],
  ["has blanks and line breaks around it", `\n ${JSON.stringify(order)} \r\n`],
] as const)("the parser accepts a body that %s", ([, body, headers = {}]) => {
  expect(parseBody(body, { headers })).toEqual(order);
});

const inBase64 = (text: string): string => Buffer.from(text).toString("base64");

test("a Base64 body is decoded", () => {
  expect(parseBody(inBase64(JSON.stringify(order)), { isBase64Encoded: true })).toEqual(order);
});

test("bytes of a Base64 body that are not UTF-8 become U+FFFD", () => {
  const body = Buffer.concat([
    Buffer.from('{"nin":"12345678901","is_consent":true,"purpose":"'),
    Buffer.of(0xff, 0x22, 0x7d),
  ]);
  const request = posted({ body: body.toString("base64"), isBase64Encoded: true });
  expect(parseInput(ninVerifyRequest, request)).toMatchObject({ purpose: "\uFFFD" });
});

test("a Base64 body is measured decoded: 16 KB are accepted, and 1 byte more is refused", () => {
  expect(parseBody(inBase64(bodyOfBytes(16_384)), { isBase64Encoded: true })).toEqual(order);
  const parse = () => parseBody(inBase64(bodyOfBytes(16_385)), { isBase64Encoded: true });
  expect(refusalOf(parse).code).toBe("invalid_json");
});

test("a Base64 body that does not decode to a JSON object is refused with invalid_json", () => {
  for (const body of ["***", JSON.stringify(order), inBase64("{"), inBase64("[]"), ""]) {
    expect(refusalOf(() => parseBody(body, { isBase64Encoded: true })).code, body).toBe("invalid_json");
  }
});

describe("a compressed body", () => {
  const sentence = "The request body is compressed: send it uncompressed, without Content-Encoding";
  const zipped = gzipSync(JSON.stringify(order));
  test.for([
    ["as base64", { body: zipped.toString("base64"), isBase64Encoded: true, headers: { "content-encoding": "gzip" } }],
    ["as text", { body: zipped.toString("utf8"), headers: { "content-encoding": "gzip" } }],
    ["as brotli", { body: "garbage", headers: { "content-encoding": "br" } }],
    ["without a Content-Encoding", { body: zipped.toString("base64"), isBase64Encoded: true }],
  ] as const)(
    "a compressed body is invalid_json with a message that says to send it uncompressed: %s",
    ([, changes]) => {
      const refusal = refusalOf(() => parseInput(dataPurchaseRequest, posted(changes)));
      expect(refusal).toMatchObject({ code: "invalid_json", message: sentence });
    },
  );

  test("a malformed body that is not compressed has another message", () => {
    const refusal = refusalOf(() => parseBody("{", { headers: { "content-encoding": "identity" } }));
    expect(refusal.message).toBe("The request body is not valid JSON");
  });
});

test("the refusal of a body quotes nothing of it", () => {
  const { message } = refusalOf(() => parseBody('{"nin": 12345678901, "phone_number": 08031234567}'));
  expect(message).not.toMatch(/1234|0803|nin|phone/);
});

test.for([
  ["any of 3 required fields", "{}", ["network_id", "plan_id", "phone_number"]],
  ["a required field, and with a wrong one", '{"network_id":"one","plan_id":101}', ["phone_number"]],
] as const)("a body without %s is missing_parameter, and names the absent ones only", ([, body, fields]) => {
  expect(refusalOf(() => parseBody(body))).toMatchObject({ code: "missing_parameter", fields });
});

test("absent consent is consent_required, and one of the fields of missing_parameter if others are absent too", () => {
  const refused = (check: object) =>
    refusalOf(() => parseInput(ninVerifyRequest, posted({ body: JSON.stringify(check) })));
  expect(refused({ nin: "12345678901" })).toMatchObject({ code: "consent_required", fields: ["is_consent"] });
  expect(refused({})).toMatchObject({ code: "missing_parameter", fields: ["nin", "is_consent"] });
});

describe("a wrong value", () => {
  const wrong: readonly (readonly [field: string, values: readonly unknown[]])[] = [
    ["network_id", ["1", "mtn", 1.5, 0, -1, true, null, [], [1], {}, 2 ** 53]],
    ["plan_id", ["101", 101.5, 0, -101, false, null, {}]],
    [
      "phone_number",
      [
        ...[8031234567, "", "0803123456", "080312345678", "8031234567", "+2348031234567", "2348031234567"],
        ...["06031234567", "08231234567", "18031234567", " 08031234567", "08031234567 ", "08031234567\n"],
        ...["0803 123 4567", "0803-123-4567", "0803123456a", "０８０３１２３４５６７", null, true, ["08031234567"], {}],
      ],
    ],
    ["expected_price", ["500", 500.001, -500, null, true, {}]],
    ["reference", ["", "a".repeat(101), "a b", "a/b", "a#b", "é", "order\n1", "<script>", 7, null, true, ["a"], {}]],
  ];

  test.for(wrong)("a wrong value is 422 validation_failed on its field: %s", ([field, values]) => {
    expect(values.length).toBeGreaterThan(5);
    for (const value of values) {
      const refusal = refusalOf(() => parseOrder({ [field]: value }));
      expect(refusal, JSON.stringify(value)).toMatchObject({ code: "validation_failed", fields: [field] });
    }
  });

  const parseTopUp = (amount: string, network: string) =>
    parseInput(
      airtimePurchaseRequest,
      posted({ body: `{"network":${network},"phone_number":"08031234567","amount":${amount}}` }),
    );
  test.for([
    [
      "amount",
      ["49.99", "0", "-100", "100.001", "100.555", "1e308", "1e400", "-1e999", '"100"', "null", "true", "[100]"],
    ],
    ["network", ["1", "null", "true", '["mtn"]', "{}"]],
  ] as const)("a wrong value of an airtime purchase is 422 validation_failed on its field: %s", ([field, values]) => {
    expect(parseTopUp("50", '"mtn"')).toMatchObject({ amount: 50 });
    for (const value of values) {
      const refusal = refusalOf(() => (field === "amount" ? parseTopUp(value, '"mtn"') : parseTopUp("100", value)));
      expect(refusal, value).toMatchObject({ code: "validation_failed", fields: [field] });
    }
  });

  const check = { is_consent: true, nin: "12345678901", bvn: "12345678901", phone_number: "08031234560" };
  const notNumbers = [
    "1234567890",
    "123456789012",
    "1234567890a",
    12_345_678_901,
    "12345 67890",
    "12345678901\n",
    null,
    "",
  ];
  test.for([
    [ninVerifyRequest, "nin", [...notNumbers, "١٢٣٤٥٦٧٨٩٠١"]],
    [bvnVerifyRequest, "bvn", [...notNumbers, "١٢٣٤٥٦٧٨٩٠١", "AB012345678910YZ"]],
    [retrieveRequest, "phone_number", ["+2348031234567", "0803123456", "08231234567"]],
    [ninVerifyRequest, "mode", ["full", null, 1, "", " basic"]],
    [ninVerifyRequest, "purpose", ["p".repeat(101)]],
  ] as const)("a wrong value of a check is 422 validation_failed on its field: $1", ([schema, field, values]) => {
    expect(parseInput<z.ZodMiniObject>(schema, posted({ body: JSON.stringify(check) }))).toMatchObject({
      is_consent: true,
    });
    for (const value of values) {
      const refusal = refusalOf(() =>
        parseInput<z.ZodMiniObject>(schema, posted({ body: JSON.stringify({ ...check, [field]: value }) })),
      );
      expect(refusal, JSON.stringify(value)).toMatchObject({ code: "validation_failed", fields: [field] });
    }
  });

  test("3 wrong fields are named together", () => {
    expect(refusalOf(() => parseOrder({ network_id: "1", plan_id: "101", phone_number: "0803" })).fields).toEqual([
      "network_id",
      "plan_id",
      "phone_number",
    ]);
  });

  test("the message of a wrong field does not contain the value", () => {
    const messages = messagesOf(() => parseOrder({ phone_number: "0803123456x" }));
    expect(messages).toEqual({ phone_number: [expect.not.stringContaining("0803123456x")] });
  });
});

test.for([
  ...["07000000000", "08031234567", "09199999999", "07100000000"].map((number) => ["phone_number", number] as const),
  ...["a", "ORDER-1", "a.b_c:d-e", "0", "a".repeat(100)].map((reference) => ["reference", reference] as const),
])("the %s %s is accepted unchanged", ([field, value]) => {
  expect(parseOrder({ [field]: value })).toMatchObject({ [field]: value });
});

describe("the header Idempotency-Key", () => {
  const withKey = (key: string): ApiEventChanges => ({ headers: { "idempotency-key": key } });

  test("an Idempotency-Key alone is the reference", () => {
    expect(parseOrder({}, withKey("order-1")).reference).toBe("order-1");
  });

  test("an Idempotency-Key in quotation marks is 422 on reference with a message that says to send it without them", () => {
    const parse = () => parseOrder({}, withKey('"order-1"'));
    expect(refusalOf(parse)).toMatchObject({ code: "validation_failed", fields: ["reference"] });
    expect(messagesOf(parse)).toEqual({ reference: ["Send the Idempotency-Key without quotation marks"] });
  });

  test("an Idempotency-Key may be sent with an equal reference", () => {
    expect(parseOrder({ reference: "order-1" }, withKey("order-1")).reference).toBe("order-1");
  });

  test.for<[string, key: string, fields?: object]>([
    ["with another reference in the body", "order-1", { reference: "order-2" }],
    ["with the same in another case in the body", "order-1", { reference: "ORDER-1" }],
    ["with an empty reference in the body", "order-1", { reference: "" }],
    ["with a reference that is null in the body", "order-1", { reference: null }],
    ["that is empty", ""],
    ["of 101 characters", "a".repeat(101)],
    ["with a space inside", "order 1"],
    ["sent twice, as API Gateway joins it", "order-1,order-1"],
    ["that contains the recipient's phone number", "order-0803-123-4567"],
  ])("an Idempotency-Key %s is 422 on reference", ([, key, fields = {}]) => {
    const refusal = refusalOf(() => parseOrder({ ...fields }, withKey(key)));
    expect(refusal).toMatchObject({ code: "validation_failed", fields: ["reference"] });
  });

  test("an Idempotency-Key that is wrong gives way to an absent field, which is 400", () => {
    const parse = () => parseBody('{"network_id":1,"plan_id":101,"reference":"b"}', withKey("a"));
    expect(refusalOf(parse)).toMatchObject({ code: "missing_parameter", fields: ["phone_number"] });
  });

  test("an Idempotency-Key is ignored by a route without a reference", () => {
    const schema = z.object({ network_id: z.int() });
    expect(parseInput(schema, posted({ body: '{"network_id":1}', ...withKey("a b") }))).toEqual({ network_id: 1 });
  });

  test("an Idempotency-Key is ignored by a GET with a reference in its path", () => {
    const request = apiEvent.parse(anApiEvent({ pathParameters: { reference: "order-2" }, ...withKey("order-1") }));
    expect(parseInput(transactionPath, request)).toEqual({ reference: "order-2" });
  });
});

describe("the parameters of a GET", () => {
  const parseQuery = (query: Record<string, string>) =>
    parseInput(transactionQuery, apiEvent.parse(anApiEvent({ query })));

  test("parameters of a GET are read from the query, and a body is ignored", () => {
    const request = apiEvent.parse(anApiEvent({ query: { status: "failed" }, body: "{" }));
    expect(parseInput(transactionQuery, request)).toEqual({ status: "failed" });
  });

  test("parameters of a GET in the path have precedence over the query", () => {
    const request = apiEvent.parse(anApiEvent({ query: { reference: "b" }, pathParameters: { reference: "a" } }));
    expect(parseInput(transactionPath, request)).toEqual({ reference: "a" });
  });

  test.for([
    ["status", "done"],
    ["type", "sms"],
    ["from", "yesterday"],
    ["from", "2026-02-30"],
    ["to", "21.11.2026"],
    ["to", "2026-11-21T09:30:00"],
    // In UTC the years 10000 and -1, which sort wrongly as texts.
    ["from", "9999-12-31T23:30:00-01:00"],
    ["to", "0000-01-01T00:30:00+01:00"],
    ["cursor", "a".repeat(401)],
  ] as const)("the query parameter %s=%s is 422 on that parameter", ([name, value]) => {
    expect(refusalOf(() => parseQuery({ [name]: value }))).toMatchObject({ code: "validation_failed", fields: [name] });
  });

  test("a time in a query can be a date, a time in UTC or a time with an offset", () => {
    for (const from of [
      "2026-11-21",
      "2026-11-21T09:30:00Z",
      "2026-11-21T09:30:00.123Z",
      "2026-11-21T09:30:00+01:00",
    ]) {
      expect(parseQuery({ from }).from).toBe(from);
    }
  });
});

test("a query parameter without a value counts as absent", () => {
  const request = apiEvent.parse(anApiEvent({ path: "/v1/transactions", query: { status: "", type: "data" } }));
  expect(parseInput(transactionQuery, request)).toEqual({ type: "data" });
});

describe("a time whose + was not encoded", () => {
  const listed = (query: Readonly<Record<string, string>>) =>
    parseInput(transactionQuery, apiEvent.parse(anApiEvent({ query })));

  test.for(["2026-11-21T09:30:00 01:00", "2026-11-21T09:30 01:00", "2026-11-21T09:30:00.5 0100"])(
    "a time whose + arrived as a space is 422 with a message that says how to encode it: %s",
    (moment) => {
      const message = "A + in a URL means a space: send it as %2B, such as 2026-11-21T09:30:00%2B01:00";
      expect(messagesOf(() => listed({ from: moment, to: moment }))).toEqual({ from: [message], to: [message] });
    },
  );

  test("a time whose + arrived as a space has another message than other text with a space", () => {
    for (const moment of ["2026-11-21 09:30", "yesterday 01:00", " 01:00"]) {
      expect(JSON.stringify(messagesOf(() => listed({ from: moment })))).toContain("Must be a date such as");
    }
    expect(listed({ from: "2026-11-21T09:30:00+01:00" })).toMatchObject({ from: "2026-11-21T09:30:00+01:00" });
  });
});

describe("the event of a REST API", () => {
  /** AWS's sample of payload format 1.0, "Working with AWS Lambda proxy integrations for HTTP APIs". */
  const sample = {
    resource: "/my/path",
    path: "/my/path",
    httpMethod: "GET",
    headers: { header1: "value1", header2: "value2" },
    multiValueHeaders: { header1: ["value1"], header2: ["value1", "value2"] },
    queryStringParameters: { parameter1: "value1", parameter2: "value" },
    multiValueQueryStringParameters: { parameter1: ["value1", "value2"], parameter2: ["value"] },
    requestContext: {
      accountId: "123456789012",
      apiId: "id",
      authorizer: { claims: null, scopes: null },
      domainName: "id.execute-api.us-east-1.amazonaws.com",
      extendedRequestId: "request-id",
      httpMethod: "GET",
      identity: { accessKey: null, sourceIp: "192.0.2.1", userAgent: "user-agent", userArn: null },
      path: "/my/path",
      protocol: "HTTP/1.1",
      requestId: "id=",
      resourceId: null,
      resourcePath: "/my/path",
      stage: "$default",
    },
    pathParameters: null,
    stageVariables: null,
    body: "Hello from Lambda!",
    isBase64Encoded: false,
  };

  test("AWS's sample is read as the same request as an HTTP API's", () => {
    const read = apiRequest.parse(sample);
    expect(read).toEqual({
      routeKey: "GET /my/path",
      headers: { header1: "value1", header2: "value1,value2" },
      queryStringParameters: { parameter1: "value1,value2", parameter2: "value" },
      pathParameters: {},
      body: "Hello from Lambda!",
      isBase64Encoded: false,
      requestContext: { requestId: "request-id", http: { method: "GET", sourceIp: "192.0.2.1" } },
    });
    expect(callRequest(read).body().toString()).toBe("Hello from Lambda!");
  });

  test("names of headers lose their case, and spellings of one name are joined", () => {
    const multiValueHeaders = { Authorization: ["Bearer a"], authorization: ["Bearer b"], "X-API-Key": ["c"] };
    expect(apiRequest.parse({ ...sample, multiValueHeaders }).headers).toEqual({
      authorization: "Bearer a,Bearer b",
      "x-api-key": "c",
    });
  });

  test("parameters of the path are decoded, and malformed ones stay as they are", () => {
    const parsed = apiRequest.parse({ ...sample, pathParameters: { reference: "a%3Ab", other: "%zz" } });
    expect(parsed.pathParameters).toEqual({ reference: "a:b", other: "%zz" });
  });

  test("a request without query, headers and body has none", () => {
    const nothing = { multiValueHeaders: null, multiValueQueryStringParameters: null, body: null };
    const parsed = apiRequest.parse({ ...sample, ...nothing });
    expect(parsed).toMatchObject({ headers: {}, queryStringParameters: {} });
    expect(parsed.body).toBeUndefined();
    expect(callRequest(parsed).body()).toHaveLength(0);
  });

  test("a binary body is decoded", () => {
    const body = Buffer.from('{"a":1}').toString("base64");
    const parsed = apiRequest.parse({ ...sample, body, isBase64Encoded: true });
    expect(callRequest(parsed).body().toString()).toBe('{"a":1}');
  });

  test.each([{ resource: undefined }, { requestContext: {} }, { multiValueHeaders: { a: "b" } }])(
    "an event of neither format is refused: %j",
    (changes) => {
      expect(apiRequest.safeParse({ ...sample, ...changes }).success).toBe(false);
    },
  );
});
