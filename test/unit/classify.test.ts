import { describe, expect, test } from "vitest";
import { classify } from "../../shared/upstream/classify.ts";

const answer = (status: number, body: unknown) =>
  classify({ kind: "answered", status, headers: {}, body: typeof body === "string" ? body : JSON.stringify(body) }, [
    "network_id",
    "plan_id",
    "phone_number",
  ]);

const transaction = (status: unknown) => ({ transaction: { reference: "DATA_UP1", status, amount: 480 } });
const refusal = (fields: Readonly<Record<string, unknown>> = {}) => ({ status: false, message: "No.", ...fields });

/**
 * The statuses in groups that R3 treats alike, and every other one from 200 to 599 ("everything else is unknown": 201, 3xx, 402,
 * 408, 409, 425 and 5xx among them).
 */
const groups = {
  ok: [200],
  refusing: [400, 404, 405, 413, 415, 422],
  keyOrAddress: [401, 403],
  limited: [429],
} as const;
const named = new Set<number>(Object.values(groups).flat());
const allOthers = Array.from({ length: 400 }, (_, index) => 200 + index).filter((status) => !named.has(status));

type Kind = "delivered" | "refused" | "ours" | "unknown";

/**
 * R2 and R3, row by row: a body, and what it means with 200, with a refusing status, with 401 and 403, and with 429. With any
 * other status every body is unknown.
 */
const rule: readonly (readonly [name: string, body: unknown, ok: Kind, refusing: Kind, key: Kind, limited: Kind])[] = [
  // What is not an envelope says nothing; a refusing status speaks for itself.
  ["no bytes", "", "unknown", "refused", "ours", "ours"],
  ["HTML", "<html><h1>Back soon</h1></html>", "unknown", "refused", "ours", "ours"],
  ["JSON that is cut off", '{"status":false,"message":"N', "unknown", "refused", "ours", "ours"],
  ["null", null, "unknown", "refused", "ours", "ours"],
  ["an array", [], "unknown", "refused", "ours", "ours"],
  ["a string", '"ok"', "unknown", "refused", "ours", "ours"],
  ["an object without anything", {}, "unknown", "refused", "ours", "ours"],
  ["a status that is no boolean", { status: "error", message: "No." }, "unknown", "refused", "ours", "ours"],
  // A success must show its transaction.
  ["true without data", { status: true, message: "OK" }, "unknown", "refused", "ours", "ours"],
  ["true with empty data", { status: true, message: "OK", data: {} }, "unknown", "refused", "ours", "ours"],
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
    "ours",
    "ours",
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
  ["false", refusal(), "refused", "refused", "ours", "ours"],
  ["false without a message", { status: false }, "refused", "refused", "ours", "ours"],
  ["false with failed", refusal({ data: transaction("failed") }), "refused", "refused", "ours", "ours"],
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
  ["false and data null", refusal({ data: null }), "refused", "refused", "ours", "ours"],
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
  // Our own balance at the upstream is ours to mend.
  ["our balance", refusal({ message: "Insufficient wallet balance." }), "ours", "ours", "ours", "ours"],
  // The order's own fields.
  ["errors.phone_number", refusal({ errors: { phone_number: ["Invalid."] } }), "refused", "refused", "ours", "ours"],
  ["errors that are no object", refusal({ errors: ["Invalid."] }), "refused", "refused", "ours", "ours"],
];

describe("an answer whose body is", () => {
  test.for(rule)("%s: as R2 and R3 say, with each of the 400 statuses from 200 to 599", (row) => {
    const [, body, ok, refusing, key, limited] = row;
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
  });
});

test("what was never sent is ours, and what got no answer is unknown, whatever the reason", () => {
  for (const reason of ["ECONNREFUSED", "ECONNRESET", "timeout", "no_time"]) {
    expect(classify({ kind: "never_sent", reason }, [])).toEqual({ kind: "ours", reason });
    expect(classify({ kind: "no_answer", reason }, [])).toEqual({ kind: "unknown", reason });
  }
});

describe("what the upstream calls the order, and what it charged", () => {
  const facts = { upstreamReference: "DATA_UP1", upstreamAmountKobo: 480_00 };

  test("is kept of a success, of `processing`, and of a `failed` one", () => {
    expect(answer(200, { status: true, data: transaction("success") })).toEqual({ kind: "delivered", ...facts });
    expect(answer(200, { status: true, data: transaction("processing") })).toMatchObject({ kind: "unknown", ...facts });
    expect(answer(200, { status: true, data: transaction("failed") })).toEqual({
      kind: "refused",
      fields: [],
      ...facts,
    });
  });

  test("is read in whole kobo where the amount carries floating-point noise", () => {
    const body = {
      status: true,
      data: { transaction: { ...transaction("success").transaction, amount: 55.00000000000001 } },
    };
    expect(answer(200, body)).toMatchObject({ kind: "delivered", upstreamAmountKobo: 55_00 });
  });

  test("is kept of a transaction that stands in a 422 or in a 500", () => {
    for (const status of [422, 500]) {
      const outcome = answer(status, refusal({ data: transaction("processing") }));
      expect(outcome, String(status)).toMatchObject({ kind: "unknown", ...facts });
    }
  });

  test.for([
    ["a reference of 101 characters", { reference: "x".repeat(101) }, { upstreamAmountKobo: 480_00 }],
    ["an empty reference", { reference: "" }, { upstreamAmountKobo: 480_00 }],
    ["a reference that is a number", { reference: 7 }, { upstreamAmountKobo: 480_00 }],
    ["an amount in text", { amount: "480" }, { upstreamReference: "DATA_UP1" }],
    ["a negative amount", { amount: -480 }, { upstreamReference: "DATA_UP1" }],
    ["an amount with half a kobo", { amount: 480.005 }, { upstreamReference: "DATA_UP1" }],
    ["an amount beyond counting", { amount: 1e300 }, { upstreamReference: "DATA_UP1" }],
  ] as const)("is left out, and the order still delivered, where it is %s", ([, changes, kept]) => {
    const body = { status: true, data: { transaction: { ...transaction("success").transaction, ...changes } } };
    expect(answer(200, body)).toEqual({ kind: "delivered", ...kept });
  });
});

describe("the fields that are to blame", () => {
  test("are those of a 422 that the order has itself, in the order's own sequence", () => {
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

  test("are none where a 422 names none that we know", () => {
    for (const errors of [{ api_key: ["?"] }, {}, null, ["phone_number"], "phone_number"]) {
      expect(answer(422, refusal({ errors })), JSON.stringify(errors)).toEqual({ kind: "refused", fields: [] });
    }
  });

  test("are none of a 400 or a 200: only a 422 speaks of fields", () => {
    const body = refusal({ errors: { phone_number: ["?"] } });
    expect(answer(400, body)).toEqual({ kind: "refused", fields: [] });
    expect(answer(200, body)).toEqual({ kind: "refused", fields: [] });
  });
});

test("none of the upstream's words is in any outcome of 6 bodies with 400 statuses", () => {
  const words = "Ada 08031234567";
  const bodies = [
    refusal({ message: words }),
    refusal({ message: words, errors: { phone_number: [words], [words]: [words] } }),
    refusal({ message: `Insufficient balance ${words}` }),
    refusal({ message: `Duplicate reference ${words}` }),
    refusal({ message: words, data: transaction(words) }),
    words,
  ];
  const outcomes = bodies.flatMap((body) => Array.from({ length: 400 }, (_, index) => answer(200 + index, body)));
  expect(outcomes).toHaveLength(2_400);
  expect(JSON.stringify(outcomes)).not.toContain("Ada");
});
