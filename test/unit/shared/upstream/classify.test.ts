import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { classify, classifyCheck, isUnrecognized } from "../../../../shared/upstream/classify.ts";
import type { Answered } from "../../../../shared/upstream/exchange.ts";
import { profileOf } from "../../../../shared/upstream/profile.ts";
import { PROFILE } from "../../../builders/upstream/upstream-simulator.ts";

const answer = (status: number, body: unknown, headers: Answered["headers"] = {}) =>
  classify(
    PROFILE,
    { kind: "answered", status, headers, body: typeof body === "string" ? body : JSON.stringify(body) },
    ["network_id", "plan_id", "phone_number"],
  );
const statuses = Array.from({ length: 400 }, (_, index) => 200 + index);

const transaction = (status: unknown) => ({ transaction: { reference: "DATA_UP1", status, amount: 480 } });
const refusal = (fields: Readonly<Record<string, unknown>> = {}) => ({ status: false, message: "No.", ...fields });

/**
 * The groups of statuses that are treated alike, and every other status from 200 to 599, which is unknown: 201, 3xx,
 * 402, 408, 409, 425 and 5xx among them. Source: docs/decisions/0002-unknown-outcomes.md.
 */
const groups = {
  ok: [200],
  refusing: [400, 404, 405, 413, 415, 422],
  account: [401, 403, 429],
} as const;
const named = new Set<number>(Object.values(groups).flat());
const allOthers = statuses.filter((status) => !named.has(status));

type Kind = "delivered" | "refused" | "account_error" | "unknown";

/** What a body is with 200, with a refusing status, and with 401, 403 and 429. */
type Outcomes = readonly [ok: Kind, refusing: Kind, account: Kind];
const DELIVERED: Outcomes = ["delivered", "unknown", "unknown"];
const UNKNOWN: Outcomes = ["unknown", "unknown", "unknown"];
const REFUSED: Outcomes = ["refused", "refused", "account_error"];
/** A refusal whose wording says that the order may still be delivered. */
const UNFINISHED: Outcomes = ["unknown", "unknown", "account_error"];
const BALANCE: Outcomes = ["account_error", "account_error", "account_error"];

/** A body with its outcomes. With any other status every body is unknown. */
const rule: readonly (readonly [name: string, body: unknown, outcomes: Outcomes])[] = [
  // Only the upstream's own envelope is a refusal.
  ["an object without anything", {}, UNKNOWN],
  ["a status that is no boolean", { status: "error", message: "No." }, UNKNOWN],
  ["a gateway's message", { message: "Forbidden" }, UNKNOWN],
  ["a firewall's object", { success: false, errors: [{ code: 1020 }], message: "No" }, UNKNOWN],
  ["a problem by RFC 9457", { type: "about:blank", title: "Not Found", status: 404 }, UNKNOWN],
  // A part of the envelope with another shape than the interface's is still searched for wording.
  [
    "errors as a list that says that the reference is taken",
    refusal({ errors: ["The reference has already been taken."] }),
    UNKNOWN,
  ],
  [
    "errors under another name that say that the reference exists",
    refusal({ errors: { ref: ["This reference already exists"] } }),
    UNKNOWN,
  ],
  ["a message in a list", { status: false, message: ["Duplicate request"] }, UNKNOWN],
  ["errors that say pending", refusal({ errors: ["Still pending"] }), UNFINISHED],
  ["data as a list", refusal({ data: [transaction("processing")] }), UNKNOWN],
  ["data as a text", refusal({ data: '{"transaction":{}}' }), UNKNOWN],
  ["a transaction as data itself", refusal({ data: { reference: "UP1", status: "success" } }), UNKNOWN],
  ["a pending order as data itself", refusal({ data: { reference: "UP1", status: "pending" } }), UNKNOWN],
  ["a list of transactions", refusal({ data: { transactions: [{ status: "success" }] } }), UNKNOWN],
  ["a transaction beside data", refusal({ transaction: { reference: "UP1", status: "success" } }), UNKNOWN],
  ["an error under another name", { status: false, error: "Duplicate transaction reference" }, UNKNOWN],
  ["a detail that says processing", { detail: "Transaction is still processing" }, UNKNOWN],
  ["data.message that says pending", refusal({ data: { message: "Transaction pending" } }), UNFINISHED],
  ["data as an empty list", refusal({ data: [] }), REFUSED],
  // A success must show its transaction.
  ["true without data", { status: true, message: "OK" }, UNKNOWN],
  ["true with empty data", { status: true, message: "OK", data: {} }, UNKNOWN],
  ["true with success", { status: true, message: "OK", data: transaction("success") }, DELIVERED],
  ["true with processing", { status: true, message: "OK", data: transaction("processing") }, UNKNOWN],
  ["true with an unheard status", { status: true, message: "OK", data: transaction("queued") }, UNKNOWN],
  ["true with a status in capitals", { status: true, message: "OK", data: transaction("FAILED") }, REFUSED],
  ["true with failed", { status: true, message: "OK", data: transaction("failed") }, REFUSED],
  ["true with failed, without a message", { status: true, data: transaction("failed") }, UNKNOWN],
  ["failed without a status", { message: "No.", data: transaction("failed") }, UNKNOWN],
  ["true without a message", { status: true, data: transaction("success") }, DELIVERED],
  // A refusal, unless the body holds a transaction that is not failed.
  ["false", refusal(), REFUSED],
  ["false without a message", { status: false }, UNKNOWN],
  ["false with a message that is no text", { status: false, message: { text: "No." } }, UNKNOWN],
  ["false with an empty message", refusal({ message: "" }), REFUSED],
  ["false with failed", refusal({ data: transaction("failed") }), REFUSED],
  ["false with success", refusal({ data: transaction("success") }), UNKNOWN],
  ["false with processing", refusal({ data: transaction("processing") }), UNKNOWN],
  ["false with an unheard status", refusal({ data: transaction("queued") }), UNKNOWN],
  ["false with a transaction without status", refusal({ data: transaction(undefined) }), UNKNOWN],
  ["false with a transaction whose status is no text", refusal({ data: transaction(1) }), UNKNOWN],
  ["false and data null", refusal({ data: null }), REFUSED],
  ["no boolean, but processing", { status: "error", data: transaction("processing") }, UNKNOWN],
  ["no status at all, but success", { message: "Oops", data: transaction("success") }, UNKNOWN],
  // A complaint about the reference: a first copy arrived.
  ["errors.reference", refusal({ errors: { reference: ["Was used."] } }), UNKNOWN],
  ["errors.reference beside another", refusal({ errors: { plan_id: ["?"], reference: ["?"] } }), UNKNOWN],
  ["a message about the reference", refusal({ message: "The reference has already been taken." }), UNKNOWN],
  ["a message about a duplicate", refusal({ message: "Duplicate transaction" }), UNKNOWN],
  ["errors.reference without a status", { message: "Invalid.", errors: { reference: ["Was used."] } }, UNKNOWN],
  [
    "errors.reference beside a failed one",
    refusal({ data: transaction("failed"), errors: { reference: ["?"] } }),
    UNKNOWN,
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
        REFUSED,
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
  ].map((message) => [JSON.stringify(message), refusal({ message }), REFUSED] as const),
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
  ].map((message) => [JSON.stringify(message), refusal({ message }), UNKNOWN] as const),
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
    "The delivery was not confirmed.",
    "Transaction pending. Your wallet balance is 4,000.",
  ].map((message) => [JSON.stringify(message), refusal({ message }), UNFINISHED] as const),
  // An empty balance at the upstream is an account_error.
  [
    "our balance, with wording about processing",
    refusal({ message: "Error processing the order: insufficient balance." }),
    BALANCE,
  ],
  ["our balance", refusal({ message: "Insufficient wallet balance." }), BALANCE],
  ["our balance in other words", refusal({ message: "Please fund your wallet." }), BALANCE],
  ["our balance in errors", refusal({ errors: { amount: ["Not enough credit"] } }), BALANCE],
  ["our balance in errors, in other words", refusal({ errors: { wallet: ["Your balance is 4,000."] } }), BALANCE],
  // A text of more than 1,000 characters is no message.
  ["a long text about a duplicate", refusal({ log: `Duplicate${"-".repeat(992)}` }), REFUSED],
  ["a text of 1,000 characters about a duplicate", refusal({ log: `Duplicate${"-".repeat(991)}` }), UNKNOWN],
  // The order's own fields.
  ["errors.phone_number", refusal({ errors: { phone_number: ["Invalid."] } }), REFUSED],
  ["errors that are no object", refusal({ errors: ["Invalid."] }), REFUSED],
];

test.for(rule)(
  "a response whose body is %s has its outcome with each of the 400 statuses from 200 to 599",
  ([, body, [ok, refusing, account]]) => {
    const expected = new Map<number, Kind>([
      ...groups.ok.map((status): [number, Kind] => [status, ok]),
      ...groups.refusing.map((status): [number, Kind] => [status, refusing]),
      ...groups.account.map((status): [number, Kind] => [status, account]),
      ...allOthers.map((status): [number, Kind] => [status, "unknown"]),
    ]);
    expect(expected.size).toBe(400);
    const wrong = [...expected]
      .map(([status, kind]) => ({ status, kind, got: answer(status, body).kind }))
      .filter(({ kind, got }) => kind !== got);
    expect(wrong).toEqual([]);
  },
);

/** The same object in other encodings. */
const pending = JSON.stringify(refusal({ data: transaction("processing") }));
const compressed = gzipSync(pending).toString("utf8");
const utf16 = Buffer.from(`\uFEFF${pending}`, "utf16le").toString("utf8");
const json = "application/json; charset=utf-8";

const html = "text/html";

/** Bodies that are not the upstream's envelope, each with its media type: of gateways, or damaged on the way. */
const foreign: readonly (readonly [name: string, body: string, type: string | undefined])[] = [
  ["no bytes", "", undefined],
  ["no bytes, said to be JSON", "", json],
  ["blanks and a byte order mark", "\uFEFF \r\n", undefined],
  ["a page of HTML", "<html><h1>Not Found</h1></html>", html],
  ["plain text", "404 page not found\n", "text/plain"],
  ["a page that holds the envelope", `<pre>${JSON.stringify(refusal())}</pre>`, html],
  ["a warning before the envelope", `<b>Warning</b>: on line 7\n${JSON.stringify(refusal())}`, html],
  ["an envelope that is cut off", JSON.stringify(refusal()).slice(0, -1), json],
  ["an envelope in a list", JSON.stringify([refusal()]), json],
  ["an envelope in a string", JSON.stringify(JSON.stringify(refusal())), json],
  ["an envelope under another name", JSON.stringify({ error: refusal() }), json],
  ["two envelopes", `${JSON.stringify(refusal())}${JSON.stringify(refusal())}`, json],
  ["null", "null", json],
  ["gzip", compressed, undefined],
  ["UTF-16", utf16, undefined],
];

describe("a response that is not the upstream's", () => {
  test.for(foreign)("a response whose body is %s is unknown with each of the 400 statuses", ([, body, type]) => {
    const headers: Record<string, string> = type === undefined ? {} : { "content-type": type };
    for (const status of statuses) {
      const reason = status < 500 ? `unrecognized_${status}` : `status_${status}`;
      expect(answer(status, body, headers), String(status)).toEqual({ kind: "unknown", reason });
    }
  });

  test("only what is not the upstream's is unrecognized", () => {
    for (const [status, body] of [
      [200, refusal()],
      [404, refusal()],
      [409, refusal()],
      [200, { status: true, message: "OK" }],
      [400, refusal({ message: "Duplicate reference" })],
      [404, refusal({ data: [] })],
      [200, { status: true, data: transaction("processing") }],
      [502, "<html>"],
    ] as const) {
      expect(isUnrecognized(answer(status, body)), `${status} ${JSON.stringify(body)}`).toBe(false);
    }
    expect(isUnrecognized(answer(301, ""))).toBe(true);
    expect(isUnrecognized(answer(499, "<html>"))).toBe(true);
    expect(isUnrecognized({ kind: "no_record" })).toBe(false);
    expect(isUnrecognized({ kind: "account_error", reason: "unrecognized_404" })).toBe(false);
  });
});

test.for([
  [200, { status: true, message: "OK" }, "missing_transaction"],
  [404, { status: true, message: "OK" }, "status_404"],
  [409, refusal(), "status_409"],
  [503, refusal(), "status_503"],
  [422, refusal({ data: transaction("pending") }), "transaction_in_422"],
  [200, refusal({ data: transaction("success") }), "transaction_in_200"],
  [200, { status: true, data: transaction("queued") }, "processing"],
  [400, refusal({ message: "Duplicate reference" }), "duplicate_reference"],
  [401, refusal({ data: { reference: "UP1" } }), "transaction_elsewhere"],
  [400, refusal({ message: "Pending" }), "unfinished"],
] as const)("the reason of an unknown outcome after %i with %j is %s", ([status, body, reason]) => {
  expect(answer(status, body)).toMatchObject({ kind: "unknown", reason });
});

describe("a 429", () => {
  const limited = { kind: "account_error", reason: "rate_limited" };
  const headers = { "retry-after": "7" };

  test.for(["x-ratelimit-limit", "x-ratelimit-remaining", "retry-after"])(
    "with the header %s is the upstream's limiter, in whatever body",
    (name) => {
      for (const [what, body] of foreign) expect(answer(429, body, { [name]: "" }), what).toEqual(limited);
      expect(answer(429, { message: "Slow down" }, { [name]: "1" })).toEqual(limited);
    },
  );

  test("in the upstream's envelope needs no header", () => {
    expect(answer(429, refusal())).toEqual(limited);
    expect(answer(429, refusal({ message: "Another request is being processed." }))).toEqual(limited);
  });

  test("with the headers is still unknown if its body says that the order arrived", () => {
    for (const body of [
      refusal({ data: transaction("processing") }),
      { transaction: { reference: "UP1" } },
      { error: "Duplicate transaction" },
      { errors: { reference: ["?"] } },
      "Duplicate transaction",
    ]) {
      expect(answer(429, body, headers).kind, JSON.stringify(body)).toBe("unknown");
    }
  });

  test("that is about its order has another reason than one about the limit", () => {
    const result = { kind: "answered", status: 429, headers: {}, body: JSON.stringify(refusal()) } as const;
    const aboutOrder = { kind: "account_error", reason: "order_limited" };
    expect(classify(PROFILE, { ...result, isAboutOrder: true }, [])).toEqual(aboutOrder);
    expect(classifyCheck(PROFILE, { ...result, isAboutOrder: true }, [])).toEqual(aboutOrder);
    expect(classify(PROFILE, { ...result, isAboutOrder: false }, [])).toEqual(limited);
  });

  test("whose headers another status has leaves that status unknown", () => {
    for (const status of [400, 403, 404, 503]) expect(answer(status, "", headers).kind).toBe("unknown");
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
    for (const outcomeOf of [classify, classifyCheck]) {
      expect(outcomeOf(PROFILE, { kind: "never_sent", reason }, [])).toEqual({ kind: "account_error", reason });
      expect(outcomeOf(PROFILE, { kind: "no_answer", reason }, [])).toEqual({ kind: "unknown", reason });
    }
  }
});

describe("the upstream's reference and amount", () => {
  const facts = { upstreamReference: "DATA_UP1", upstreamAmountKobo: 480_00 };

  test("reference and amount are read from a success, a `processing` and a `failed`", () => {
    expect(answer(200, { status: true, data: transaction("success") })).toEqual({ kind: "delivered", ...facts });
    expect(answer(200, { status: true, data: transaction("processing") })).toMatchObject({ kind: "unknown", ...facts });
    expect(answer(200, { status: true, message: "", data: transaction("failed") })).toEqual({
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
      statuses
        .map((status) => ({ body, status, outcome: answer(status, body) }))
        .filter(({ outcome }) => outcome.upstreamReference !== "DATA_UP1" || outcome.upstreamAmountKobo !== 480_00),
    );
    expect(missing).toEqual([]);
  });

  test("a reference may be a number, and an amount text, as in an event, or a number with floating-point noise", () => {
    const body = { status: true, data: { transaction: { status: "success", reference: 4_711, amount: "480.00" } } };
    const withNoise = { status: true, data: { transaction: { status: "success", amount: 55.00000000000001 } } };
    expect(answer(200, body)).toEqual({
      kind: "delivered",
      upstreamReference: "4711",
      upstreamAmountKobo: 480_00,
    });
    expect(answer(200, withNoise)).toEqual({ kind: "delivered", upstreamAmountKobo: 55_00 });
  });

  test.for([
    [
      "a reference with half of a surrogate pair, which no table takes",
      { reference: "U-\ud83d" },
      { upstreamAmountKobo: 480_00 },
    ],
    ["a reference of 101 characters", { reference: "x".repeat(101) }, { upstreamAmountKobo: 480_00 }],
    ["an empty reference", { reference: "" }, { upstreamAmountKobo: 480_00 }],
    ["a reference that is a fraction", { reference: 7.5 }, { upstreamAmountKobo: 480_00 }],
    ["an amount that is text", { amount: "NGN 480" }, { upstreamReference: "DATA_UP1" }],
    ["a negative amount", { amount: -480 }, { upstreamReference: "DATA_UP1" }],
    ["an amount with half a kobo", { amount: 480.005 }, { upstreamReference: "DATA_UP1" }],
    ["an amount beyond counting", { amount: 1e300 }, { upstreamReference: "DATA_UP1" }],
  ] as const)("a delivered order with %s is delivered without that field", ([, changes, kept]) => {
    const body = { status: true, data: { transaction: { ...transaction("success").transaction, ...changes } } };
    expect(answer(200, body)).toStrictEqual({ kind: "delivered", ...kept });
  });
});

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

test("a 200 with the error inside names its refused fields, and a 400 does not", () => {
  const body = refusal({ errors: { phone_number: ["?"] } });
  expect(answer(400, body)).toEqual({ kind: "refused", fields: [] });
  expect(answer(200, body)).toEqual({ kind: "refused", fields: ["phone_number"] });
});

describe("an envelope without its message", () => {
  const limit = { "x-ratelimit-limit": "60" };
  test("a refusal without a message is the upstream's if it states the upstream's limit", () => {
    expect(answer(422, { status: false, errors: { plan_id: ["?"] } }, limit)).toEqual({
      kind: "refused",
      fields: ["plan_id"],
    });
    expect(answer(422, { status: false })).toMatchObject({ kind: "unknown", reason: "unrecognized_422" });
  });

  test("neither a text in place of the status nor a failed transaction alone makes it the upstream's", () => {
    expect(answer(422, { status: "false" }, limit).kind).toBe("unknown");
    expect(answer(200, { status: true, data: transaction("failed") }, limit).kind).toBe("unknown");
  });
});

describe("a profile", () => {
  const renamed = profileOf({
    fields: { phone_number: "msisdn", reference: "request_id" },
    answers: { transaction: "order", reference: "id", status: "state", amount: "price" },
    statuses: { success: ["Completed"], failed: ["Reversed"] },
    refusals: {
      statuses: [400, 422],
      messages: [{ status: 500, message: "Already sold out, order not processed" }],
    },
  });
  const read = (status: number, body: unknown) =>
    classify(renamed, { kind: "answered", status, headers: {}, body: JSON.stringify(body) }, ["phone_number"]);
  const order = (state: string) => ({ data: { order: { id: 17, state, price: "480.50" } } });
  const facts = { upstreamReference: "17", upstreamAmountKobo: 480_50 };

  test("an answer is read by the names and words of the profile", () => {
    expect(read(200, { status: true, message: "OK", ...order("COMPLETED ") })).toEqual({ kind: "delivered", ...facts });
    expect(read(200, { status: true, message: "OK", ...order("success") })).toMatchObject({ kind: "unknown" });
    expect(read(422, refusal(order("reversed")))).toEqual({ kind: "refused", fields: [], ...facts });
    expect(read(422, refusal({ errors: { msisdn: ["?"] } }))).toEqual({ kind: "refused", fields: ["phone_number"] });
    expect(read(422, refusal({ errors: { request_id: ["?"] } }))).toMatchObject({ reason: "duplicate_reference" });
  });

  test("a transaction under the document's name, or as data itself, is in another place", () => {
    expect(read(422, refusal({ data: transaction("failed") }))).toMatchObject({ reason: "transaction_elsewhere" });
    expect(read(422, refusal({ data: { state: "x" } }))).toMatchObject({ reason: "transaction_elsewhere" });
    expect(read(422, refusal({ order: {} }))).toMatchObject({ reason: "transaction_elsewhere" });
  });

  test("only the statuses of the profile refuse an order, and others with exactly the message that it names", () => {
    expect(read(404, refusal()).kind).toBe("unknown");
    expect(read(500, refusal()).kind).toBe("unknown");
    const named = { message: " already sold out, ORDER not processed" };
    expect(read(500, refusal(named))).toEqual({ kind: "refused", fields: [] });
    expect(read(502, refusal(named)).kind).toBe("unknown");
    expect(read(500, { message: named.message }).kind).toBe("unknown");
    expect(read(500, refusal({ ...named, ...order("Completed") })).kind).toBe("unknown");
    expect(read(500, refusal({ ...named, errors: { request_id: ["?"] } })).kind).toBe("unknown");
  });
});

describe("found", () => {
  const result = { first_name: "Ada" };
  const found = (changes: Readonly<Record<string, unknown>> = {}, status = 200) =>
    classifyCheck(
      PROFILE,
      {
        kind: "answered",
        status,
        headers: {},
        body: JSON.stringify({ status: true, message: "OK", data: { result, ...transaction("success") }, ...changes }),
      },
      ["nin"],
    );
  const facts = { upstreamReference: "DATA_UP1", upstreamAmountKobo: 480_00 };

  test.for([
    ["success", transaction("success")],
    ["processing", transaction("processing")],
  ] as const)("a record beside a transaction that is %s is found, with the upstream's facts", ([, sent]) => {
    expect(found({ data: { result, ...sent } })).toEqual({ kind: "found", record: result, ...facts });
  });

  test("a record without a transaction, or without a message, is found", () => {
    expect(found({ data: { result } })).toStrictEqual({ kind: "found", record: result });
    expect(found({ message: undefined })).toMatchObject({ kind: "found" });
  });

  test("a record beside a failed transaction, or in a refusal about our balance, is not found", () => {
    expect(found({ data: { result, ...transaction("failed") } })).toEqual({ kind: "refused", fields: [], ...facts });
    const aboutBalance = { message: "Insufficient balance", data: { result, ...transaction("failed") } };
    for (const status of [true, false]) {
      expect(found({ status, ...aboutBalance })).toMatchObject({ kind: "account_error" });
    }
  });

  test("a record in another status, or in a body that does not say true, is unknown", () => {
    for (const status of [201, 400, 404, 500]) expect(found({}, status).kind, String(status)).toBe("unknown");
    expect(found({ status: "success" }).kind).toBe("unknown");
    expect(found({ status: false, data: { result, ...transaction("success") } }).kind).toBe("unknown");
  });

  test("a success without a record, or with another thing in its place, is unknown", () => {
    const missing = { kind: "unknown", reason: "missing_result", ...facts };
    expect(found({ data: transaction("success") })).toEqual(missing);
    expect(found({ data: { result: [result], ...transaction("success") } })).toEqual(missing);
  });
});

describe("no_record", () => {
  const check = (status: number, body: unknown) =>
    classifyCheck(
      PROFILE,
      { kind: "answered", status, headers: {}, body: typeof body === "string" ? body : JSON.stringify(body) },
      ["nin"],
    );
  test.for([
    ["a 404", 404, refusal()],
    ["a 404 with an empty message", 404, refusal({ message: "" })],
    ["a 404 with a failed transaction", 404, refusal({ data: transaction("failed") })],
    [
      "not-found wording beside a failed transaction",
      200,
      refusal({ message: "Not found", data: transaction("failed") }),
    ],
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
    ["an array", []],
    ["null", null],
  ] as const)("a 404 with %s is unknown, not no_record", ([, body]) => {
    expect(check(404, body)).toEqual({ kind: "unknown", reason: "unrecognized_404" });
  });

  test("a refusal with other wording is refused, and names the field", () => {
    expect(check(422, refusal({ errors: { nin: ["Invalid."] } }))).toEqual({ kind: "refused", fields: ["nin"] });
    expect(check(400, refusal())).toEqual({ kind: "refused", fields: [] });
  });

  test("not-found wording outside the envelope is unknown, not no_record", () => {
    expect(check(422, { message: "Not Found" })).toEqual({ kind: "unknown", reason: "unrecognized_422" });
    expect(check(400, { status: "error", message: "No record" })).toMatchObject({ reason: "unrecognized_400" });
    expect(check(404, { status: true, message: "No record was found" })).toMatchObject({ reason: "status_404" });
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
  const outcomes = bodies.flatMap((body) => statuses.map((status) => answer(status, body)));
  expect(outcomes).toHaveLength(2_400);
  expect(JSON.stringify(outcomes)).not.toContain("Ada");
});
