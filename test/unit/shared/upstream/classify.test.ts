import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { classify, classifyCheck } from "../../../../shared/upstream/classify.ts";

const answer = (status: number, body: unknown) =>
  classify({ kind: "answered", status, headers: {}, body: typeof body === "string" ? body : JSON.stringify(body) }, [
    "network_id",
    "plan_id",
    "phone_number",
  ]);

const transaction = (status: unknown) => ({ transaction: { reference: "DATA_UP1", status, amount: 480 } });
const refusal = (fields: Readonly<Record<string, unknown>> = {}) => ({ status: false, message: "No.", ...fields });

/**
 * The groups of statuses that are treated alike, and every other status from 200 to 599, which is unknown: 201, 3xx,
 * 402, 408, 409, 425 and 5xx among them. Source: docs/decisions/0002-unknown-outcomes.md.
 */
const groups = {
  ok: [200],
  refusing: [400, 404, 405, 413, 415, 422],
  keyOrAddress: [401, 403],
  limited: [429],
} as const;
const named = new Set<number>(Object.values(groups).flat());
const allOthers = Array.from({ length: 400 }, (_, index) => 200 + index).filter((status) => !named.has(status));

type Kind = "delivered" | "refused" | "account_error" | "unknown";

const mayBeDelivered: readonly [Kind, Kind, Kind, Kind] = ["unknown", "unknown", "account_error", "account_error"];
const everywhere = (kind: Kind): [Kind, Kind, Kind, Kind] => [kind, kind, kind, kind];

/**
 * A body, and its outcome with 200, with a refusing status, with 401 and 403, and with 429. With any other status every
 * body is unknown.
 */
const rule: readonly (readonly [name: string, body: unknown, ok: Kind, refusing: Kind, key: Kind, limited: Kind])[] = [
  // A JSON object that is not an envelope does not change the outcome of a refusing status.
  ["an object without anything", {}, "unknown", "refused", "account_error", "account_error"],
  [
    "a status that is no boolean",
    { status: "error", message: "No." },
    "unknown",
    "refused",
    "account_error",
    "account_error",
  ],
  // A part with another shape than the interface's is still searched for wording.
  [
    "errors as a list that says that the reference is taken",
    refusal({ errors: ["The reference has already been taken."] }),
    ...everywhere("unknown"),
  ],
  [
    "errors under another name that say that the reference exists",
    refusal({ errors: { ref: ["This reference already exists"] } }),
    ...everywhere("unknown"),
  ],
  ["a message in a list", { status: false, message: ["Duplicate request"] }, ...everywhere("unknown")],
  [
    "errors that say pending",
    refusal({ errors: ["Still pending"] }),
    "unknown",
    "unknown",
    "account_error",
    "account_error",
  ],
  [
    "data as a list",
    refusal({ data: [transaction("processing")] }),
    "unknown",
    "unknown",
    "account_error",
    "account_error",
  ],
  ["data as a text", refusal({ data: '{"transaction":{}}' }), "unknown", "unknown", "account_error", "account_error"],
  ["a transaction as data itself", refusal({ data: { reference: "UP1", status: "success" } }), ...mayBeDelivered],
  ["a pending order as data itself", refusal({ data: { reference: "UP1", status: "pending" } }), ...mayBeDelivered],
  ["a list of transactions", refusal({ data: { transactions: [{ status: "success" }] } }), ...mayBeDelivered],
  ["a transaction beside data", refusal({ transaction: { reference: "UP1", status: "success" } }), ...mayBeDelivered],
  [
    "an error under another name",
    { status: false, error: "Duplicate transaction reference" },
    ...everywhere("unknown"),
  ],
  ["a detail that says processing", { detail: "Transaction is still processing" }, ...mayBeDelivered],
  ["data.message that says pending", refusal({ data: { message: "Transaction pending" } }), ...mayBeDelivered],
  ["data as an empty list", refusal({ data: [] }), "refused", "refused", "account_error", "account_error"],
  // A success must show its transaction.
  ["true without data", { status: true, message: "OK" }, "unknown", "refused", "account_error", "account_error"],
  [
    "true with empty data",
    { status: true, message: "OK", data: {} },
    "unknown",
    "refused",
    "account_error",
    "account_error",
  ],
  [
    "true with success",
    { status: true, message: "OK", data: transaction("success") },
    "delivered",
    "unknown",
    "unknown",
    "unknown",
  ],
  [
    "true with processing",
    { status: true, message: "OK", data: transaction("processing") },
    "unknown",
    "unknown",
    "unknown",
    "unknown",
  ],
  [
    "true with an unheard status",
    { status: true, message: "OK", data: transaction("queued") },
    "unknown",
    "unknown",
    "unknown",
    "unknown",
  ],
  [
    "true with a status in capitals",
    { status: true, message: "OK", data: transaction("FAILED") },
    "unknown",
    "unknown",
    "unknown",
    "unknown",
  ],
  [
    "true with failed",
    { status: true, message: "OK", data: transaction("failed") },
    "refused",
    "refused",
    "account_error",
    "account_error",
  ],
  [
    "true without a message",
    { status: true, data: transaction("success") },
    "delivered",
    "unknown",
    "unknown",
    "unknown",
  ],
  // A refusal, unless the body holds a transaction that is not failed.
  ["false", refusal(), "refused", "refused", "account_error", "account_error"],
  ["false without a message", { status: false }, "refused", "refused", "account_error", "account_error"],
  [
    "false with failed",
    refusal({ data: transaction("failed") }),
    "refused",
    "refused",
    "account_error",
    "account_error",
  ],
  ["false with success", refusal({ data: transaction("success") }), "unknown", "unknown", "unknown", "unknown"],
  ["false with processing", refusal({ data: transaction("processing") }), "unknown", "unknown", "unknown", "unknown"],
  [
    "false with an unheard status",
    refusal({ data: transaction("queued") }),
    "unknown",
    "unknown",
    "unknown",
    "unknown",
  ],
  [
    "false with a transaction without status",
    refusal({ data: transaction(undefined) }),
    "unknown",
    "unknown",
    "unknown",
    "unknown",
  ],
  [
    "false with a transaction whose status is no text",
    refusal({ data: transaction(1) }),
    "unknown",
    "unknown",
    "unknown",
    "unknown",
  ],
  ["false and data null", refusal({ data: null }), "refused", "refused", "account_error", "account_error"],
  [
    "no boolean, but processing",
    { status: "error", data: transaction("processing") },
    "unknown",
    "unknown",
    "unknown",
    "unknown",
  ],
  [
    "no status at all, but success",
    { message: "Oops", data: transaction("success") },
    "unknown",
    "unknown",
    "unknown",
    "unknown",
  ],
  // A complaint about the reference: a first copy arrived.
  ["errors.reference", refusal({ errors: { reference: ["Was used."] } }), "unknown", "unknown", "unknown", "unknown"],
  [
    "errors.reference beside another",
    refusal({ errors: { plan_id: ["?"], reference: ["?"] } }),
    "unknown",
    "unknown",
    "unknown",
    "unknown",
  ],
  [
    "a message about the reference",
    refusal({ message: "The reference has already been taken." }),
    "unknown",
    "unknown",
    "unknown",
    "unknown",
  ],
  [
    "a message about a duplicate",
    refusal({ message: "Duplicate transaction" }),
    "unknown",
    "unknown",
    "unknown",
    "unknown",
  ],
  [
    "errors.reference without a status",
    { message: "Invalid.", errors: { reference: ["Was used."] } },
    "unknown",
    "unknown",
    "unknown",
    "unknown",
  ],
  [
    "errors.reference beside a failed one",
    refusal({ data: transaction("failed"), errors: { reference: ["?"] } }),
    "unknown",
    "unknown",
    "unknown",
    "unknown",
  ],
  // An explicit `failed` overrides other wording.
  ...[
    "Your reference is UP1: keep it.",
    "Duplicate transaction",
    "The reference has already been taken.",
    "The transaction is still processing.",
    "Timed out",
  ].map(
    (message) =>
      [
        `${JSON.stringify(message)} beside a failed one`,
        refusal({ message, data: transaction("failed") }),
        ...(["refused", "refused", "account_error", "account_error"] as const),
      ] as const,
  ),
  // A message that merely mentions the reference is a refusal like any other.
  ...[
    "Reference: 8f14e45f. The number is not on this network.",
    "The reference is required.",
    "The reference format is invalid.",
    "Quote reference 77123 when you write to us.",
    "Unknown reference.",
    "The phone number is already barred.",
    "The order has not been processed.",
    "The request could not be processed.",
  ].map(
    (message) =>
      [
        JSON.stringify(message),
        refusal({ message }),
        ...(["refused", "refused", "account_error", "account_error"] as const),
      ] as const,
  ),
  // What says that a copy arrived before is unknown, however it is worded.
  ...[
    "Duplicate reference",
    "duplicated request",
    "DUPLICATE ENTRY",
    "This reference was used before.",
    "Reference already used",
    "Reference has been used.",
    "The reference exists.",
    "Transaction already exists",
    "This transaction was already processed.",
    "The order has been processed.",
    "The reference must be unique.",
    "Ref is not unique",
    "A request with this ref is in use.",
  ].map(
    (message) =>
      [
        JSON.stringify(message),
        refusal({ message }),
        ...(["unknown", "unknown", "unknown", "unknown"] as const),
      ] as const,
  ),
  // What says that the order is not finished is unknown; a 401, 403 or 429 was refused before it could begin.
  ...[
    "Transaction pending",
    "Your order is being processed.",
    "Processing",
    "The request is in progress.",
    "in-progress",
    "The transaction is in process",
    "Queued for delivery",
    "The order was placed in the queue.",
    "Request timed out",
    "The operator timed-out.",
    "Gateway time-out",
    "Operator timeout",
    "time out",
    "Awaiting confirmation from the operator",
    "The transaction is not yet confirmed.",
    "Transaction pending. Your wallet balance is 4,000.",
  ].map(
    (message) =>
      [
        JSON.stringify(message),
        refusal({ message }),
        ...(["unknown", "unknown", "account_error", "account_error"] as const),
      ] as const,
  ),
  // An empty balance at the upstream is an account_error.
  [
    "our balance, with wording about processing",
    refusal({ message: "Error processing the order: insufficient balance." }),
    "account_error",
    "account_error",
    "account_error",
    "account_error",
  ],
  [
    "our balance",
    refusal({ message: "Insufficient wallet balance." }),
    "account_error",
    "account_error",
    "account_error",
    "account_error",
  ],
  // The order's own fields.
  [
    "errors.phone_number",
    refusal({ errors: { phone_number: ["Invalid."] } }),
    "refused",
    "refused",
    "account_error",
    "account_error",
  ],
  [
    "errors that are no object",
    refusal({ errors: ["Invalid."] }),
    "refused",
    "refused",
    "account_error",
    "account_error",
  ],
];

describe("a response with a readable body", () => {
  test.for(rule)(
    "a response whose body is %s has its outcome with each of the 400 statuses from 200 to 599",
    ([, body, ok, refusing, key, limited]) => {
      const expected = new Map<number, Kind>([
        ...groups.ok.map((status): [number, Kind] => [status, ok]),
        ...groups.refusing.map((status): [number, Kind] => [status, refusing]),
        ...groups.keyOrAddress.map((status): [number, Kind] => [status, key]),
        ...groups.limited.map((status): [number, Kind] => [status, limited]),
        ...allOthers.map((status): [number, Kind] => [status, "unknown"]),
      ]);
      expect(expected.size).toBe(400);
      const wrong = [...expected]
        .map(([status, kind]) => ({ status, kind, got: answer(status, body).kind }))
        .filter(({ kind, got }) => kind !== got);
      expect(wrong).toEqual([]);
    },
  );
});

/** The same object in other encodings. */
const pending = JSON.stringify(refusal({ data: transaction("processing") }));
const compressed = gzipSync(pending).toString("utf8");
const utf16 = Buffer.from(`\uFEFF${pending}`, "utf16le").toString("utf8");
const json = "application/json; charset=utf-8";

/**
 * Bodies without a readable JSON object, each with its media type, and their outcomes with 400 and 422, which only the
 * application sends, and with 404, 405, 413 and 415, which a gateway sends too. 401, 403 and 429 refuse whatever the
 * body is.
 */
const unreadable: readonly (readonly [
  name: string,
  body: string,
  type: string | undefined,
  byApplication: Kind,
  byGateway: Kind,
])[] = [
  ["no bytes", "", undefined, "refused", "refused"],
  ["no bytes, said to be JSON", "", json, "refused", "refused"],
  ["blanks and a byte order mark", "\uFEFF \r\n", undefined, "refused", "refused"],
  ["a page of HTML", "<html><h1>Not Found</h1></html>", "text/html", "unknown", "refused"],
  [
    "a page with a style and a load balancer",
    "<style>p { margin: 0 }</style>Balancer",
    undefined,
    "unknown",
    "refused",
  ],
  ["plain text", "404 page not found\n", "text/plain", "unknown", "refused"],
  ["a page, said to be JSON", "<html><h1>Not Found</h1></html>", json, "unknown", "unknown"],
  ["a page that holds JSON", `<pre>${pending}</pre>`, "text/html", "unknown", "unknown"],
  [
    "a page that holds JSON in entities",
    `<p>${pending.replaceAll('"', "&quot;")}</p>`,
    "text/html",
    "unknown",
    "unknown",
  ],
  [
    "a page that holds JSON in numbers",
    `<p>${pending.replaceAll('"', "&#34;")}</p>`,
    "text/html",
    "unknown",
    "unknown",
  ],
  ["a warning before the JSON", `<b>Warning</b>: on line 7\n${pending}`, "text/html", "unknown", "unknown"],
  ["a page about a transaction", "<p>Your transaction was received</p>", "text/html", "unknown", "unknown"],
  ["a page that says pending", "<p>Pending</p>", "text/html", "unknown", "unknown"],
  ["JSON that is cut off", pending.slice(0, 60), undefined, "unknown", "unknown"],
  ["JSON that is cut off after its first character", "{", json, "unknown", "unknown"],
  ["JSON that is cut off behind a byte order mark", `\uFEFF${pending.slice(0, 60)}`, undefined, "unknown", "unknown"],
  ["two JSON objects", `${pending}${pending}`, undefined, "unknown", "unknown"],
  ["JSON in a string", JSON.stringify(pending), undefined, "unknown", "unknown"],
  ["an array", `[${pending}]`, undefined, "unknown", "unknown"],
  ["null, said to be JSON", "null", json, "unknown", "unknown"],
  ["gzip", compressed, undefined, "unknown", "unknown"],
  ["gzip, said to be a page", compressed, "text/html", "unknown", "unknown"],
  ["UTF-16", utf16, undefined, "unknown", "unknown"],
];

describe("a response without a readable JSON object", () => {
  test.for(unreadable)(
    "a response whose unreadable body is %s refuses an order only if the application never received it",
    ([, body, type, byApplication, byGateway]) => {
      const expected = new Map<number, Kind>([
        ...[200, ...allOthers].map((status): [number, Kind] => [status, "unknown"]),
        ...[400, 422].map((status): [number, Kind] => [status, byApplication]),
        ...[404, 405, 413, 415].map((status): [number, Kind] => [status, byGateway]),
        ...[401, 403, 429].map((status): [number, Kind] => [status, "account_error"]),
      ]);
      expect(expected.size).toBe(400);
      const headers = { "content-type": type };
      const wrong = [...expected]
        .map(([status, kind]) => ({
          status,
          kind,
          got: classify({ kind: "answered", status, headers, body }, []).kind,
        }))
        .filter(({ kind, got }) => kind !== got);
      expect(wrong).toEqual([]);
    },
  );

  test("unreadable text about a duplicate leaves the outcome unknown with every status", () => {
    const outcomes = Array.from({ length: 400 }, (_, index) => answer(200 + index, "Duplicate transaction").kind);
    expect(new Set(outcomes)).toEqual(new Set(["unknown"]));
  });
});

test("a byte order mark does not change the outcome", () => {
  for (const [name, body] of rule) {
    for (const status of [200, 400, 401, 404, 422, 429, 500]) {
      expect(answer(status, `\uFEFF${JSON.stringify(body)}`), `${status} ${name}`).toEqual(answer(status, body));
    }
  }
});

test("never_sent is an account_error and no_answer is unknown, whatever the reason", () => {
  for (const reason of ["ECONNREFUSED", "ECONNRESET", "timeout", "no_time"]) {
    expect(classify({ kind: "never_sent", reason }, [])).toEqual({ kind: "account_error", reason });
    expect(classify({ kind: "no_answer", reason }, [])).toEqual({ kind: "unknown", reason });
  }
});

describe("the upstream's reference and amount", () => {
  const facts = { upstreamReference: "DATA_UP1", upstreamAmountKobo: 480_00 };

  test("reference and amount are read from a success, a `processing` and a `failed`", () => {
    expect(answer(200, { status: true, data: transaction("success") })).toEqual({ kind: "delivered", ...facts });
    expect(answer(200, { status: true, data: transaction("processing") })).toMatchObject({ kind: "unknown", ...facts });
    expect(answer(200, { status: true, data: transaction("failed") })).toEqual({
      kind: "refused",
      fields: [],
      ...facts,
    });
  });

  test("reference and amount are read whatever the outcome, for each of the 400 statuses", () => {
    const bodies = [
      refusal({ data: transaction("failed") }),
      refusal({ data: transaction("processing") }),
      refusal({ data: transaction("failed"), errors: { reference: ["?"] } }),
      refusal({ data: transaction("failed"), message: "Insufficient wallet balance." }),
    ];
    const missing = bodies.flatMap((body) =>
      Array.from({ length: 400 }, (_, index) => ({
        body,
        status: 200 + index,
        outcome: answer(200 + index, body),
      })).filter(({ outcome }) => outcome.upstreamReference !== "DATA_UP1" || outcome.upstreamAmountKobo !== 480_00),
    );
    expect(missing).toEqual([]);
  });

  test("an amount with floating-point noise is read in whole kobo", () => {
    const body = {
      status: true,
      data: { transaction: { ...transaction("success").transaction, amount: 55.00000000000001 } },
    };
    expect(answer(200, body)).toMatchObject({ kind: "delivered", upstreamAmountKobo: 55_00 });
  });

  test("a reference may be a number, and an amount text, as in an event", () => {
    const body = { status: true, data: { transaction: { status: "success", reference: 4_711, amount: "480.00" } } };
    expect(answer(200, body)).toEqual({
      kind: "delivered",
      upstreamReference: "4711",
      upstreamAmountKobo: 480_00,
    });
  });

  test("reference and amount are read from a transaction in a 422 or a 500", () => {
    for (const status of [422, 500]) {
      const outcome = answer(status, refusal({ data: transaction("processing") }));
      expect(outcome, String(status)).toMatchObject({ kind: "unknown", ...facts });
    }
  });

  test.for([
    ["a reference of 101 characters", { reference: "x".repeat(101) }, { upstreamAmountKobo: 480_00 }],
    ["an empty reference", { reference: "" }, { upstreamAmountKobo: 480_00 }],
    ["a reference that is a fraction", { reference: 7.5 }, { upstreamAmountKobo: 480_00 }],
    ["an amount that is text", { amount: "NGN 480" }, { upstreamReference: "DATA_UP1" }],
    ["a negative amount", { amount: -480 }, { upstreamReference: "DATA_UP1" }],
    ["an amount with half a kobo", { amount: 480.005 }, { upstreamReference: "DATA_UP1" }],
    ["an amount beyond counting", { amount: 1e300 }, { upstreamReference: "DATA_UP1" }],
  ] as const)("a delivered order with %s is delivered without that field", ([, changes, kept]) => {
    const body = { status: true, data: { transaction: { ...transaction("success").transaction, ...changes } } };
    expect(answer(200, body)).toEqual({ kind: "delivered", ...kept });
  });
});

describe("refused fields", () => {
  test("the refused fields of a 422 are those that the order has, in the order's sequence", () => {
    const errors = {
      amount: ["?"],
      phone_number: ["?"],
      plan_id: ["?"],
      webhook_url: ["?"],
      "": ["?"],
      network: "?",
      network_id: [],
    };
    expect(answer(422, refusal({ errors }))).toEqual({
      kind: "refused",
      fields: ["network_id", "plan_id", "phone_number"],
    });
  });

  test("a 422 that names no known field has no refused fields", () => {
    for (const errors of [{ api_key: ["?"] }, {}, null, ["phone_number"], "phone_number"]) {
      expect(answer(422, refusal({ errors })), JSON.stringify(errors)).toEqual({ kind: "refused", fields: [] });
    }
  });

  test("a 400 or a 200 has no refused fields", () => {
    const body = refusal({ errors: { phone_number: ["?"] } });
    expect(answer(400, body)).toEqual({ kind: "refused", fields: [] });
    expect(answer(200, body)).toEqual({ kind: "refused", fields: [] });
  });
});

describe("no_record", () => {
  const check = (status: number, body: unknown) =>
    classifyCheck(
      { kind: "answered", status, headers: {}, body: typeof body === "string" ? body : JSON.stringify(body) },
      ["nin"],
    );
  const foreign = { kind: "unknown", reason: "unrecognized_404" };

  test.for([
    ["a 404", 404, refusal()],
    ["a 404 with an empty message", 404, refusal({ message: "" })],
    ["a 404 with a failed transaction", 404, refusal({ data: transaction("failed") })],
    ["a 404 that names the number", 404, refusal({ errors: { nin: ["?"] } })],
    ["not-found wording in a 200", 200, refusal({ message: "NIN record not found" })],
    ["not-found wording in a 422", 422, refusal({ message: "No record for this number" })],
  ] as const)("%s in the upstream's envelope is no_record", ([, status, body]) => {
    expect(check(status, body)).toMatchObject({ kind: "no_record" });
  });

  test.for([
    ["an empty object", {}],
    ["no bytes", ""],
    ["JSON that is cut off", '{"status":false,"message":"No rec'],
    ["HTML", "<html><h1>404 Not Found</h1></html>"],
    ["a gateway's message", { message: "Not Found" }],
    ["an envelope without a message", { status: false }],
    ["an envelope whose message is no text", { status: false, message: { text: "No record" } }],
    ["a status in text", { status: "error", message: "No record was found" }],
    ["a status that says true", { status: true, message: "No record was found" }],
    ["an array", []],
    ["null", null],
  ] as const)("a 404 with %s is unknown, not no_record", ([, body]) => {
    expect(check(404, body)).toEqual(foreign);
  });

  test("not-found wording outside the envelope is unknown, not no_record", () => {
    expect(check(422, { message: "Not Found" })).toEqual(foreign);
    expect(check(400, { status: "error", message: "No record" })).toEqual(foreign);
  });

  test("a 404 about the reference, or one that is still pending, is not no_record", () => {
    expect(check(404, refusal({ errors: { reference: ["?"] } }))).toMatchObject({ reason: "duplicate_reference" });
    expect(check(404, refusal({ message: "Not found yet: the request is pending" }))).toMatchObject({
      reason: "unfinished",
    });
  });
});

test("no outcome contains text of the upstream, for 6 bodies with 400 statuses", () => {
  const text = "Ada 08031234567";
  const bodies = [
    refusal({ message: text }),
    refusal({ message: text, errors: { phone_number: [text], [text]: [text] } }),
    refusal({ message: `Insufficient balance ${text}` }),
    refusal({ message: `Duplicate reference ${text}` }),
    refusal({ message: text, data: transaction(text) }),
    text,
  ];
  const outcomes = bodies.flatMap((body) => Array.from({ length: 400 }, (_, index) => answer(200 + index, body)));
  expect(outcomes).toHaveLength(2_400);
  expect(JSON.stringify(outcomes)).not.toContain("Ada");
});
