import { describe, expect, test } from "vitest";
import { bvnVerifyRequest, ninVerifyRequest } from "../../../../../shared/contract/identity.ts";
import { airtimePurchaseRequest, dataPurchaseRequest } from "../../../../../shared/contract/purchase.ts";
import { asciiDigits } from "../../../../../shared/contract/values/ascii-digits.ts";

const order = { network_id: 1, plan_id: 101, phone_number: "08031234567" };
const topUp = { network: "mtn", phone_number: "08031234567", amount: 100 };
const MESSAGE = "Must not contain the request's NIN, BVN or phone number: it is stored in clear text";

test.for(["08031234567", "order-0803-123-4567", "2348031234567", "8031234567.1"])(
  "a purchase whose reference contains the recipient's phone number is invalid in its reference: %s",
  (reference) => {
    const refused = [{ path: ["reference"], message: MESSAGE }];
    expect(dataPurchaseRequest.safeParse({ ...order, reference }).error?.issues).toMatchObject(refused);
    expect(airtimePurchaseRequest.safeParse({ ...topUp, reference }).error?.issues).toMatchObject(refused);
  },
);

test.for(["08031234568", "803123456", "order-1042"])(
  "a purchase for 08031234567 may have the reference %s",
  (reference) => {
    expect(dataPurchaseRequest.parse({ ...order, reference })).toEqual({ ...order, reference });
  },
);

test("a purchase with an invalid phone number is invalid in its phone number only", () => {
  for (const phoneNumber of ["", "1", "order"]) {
    const { error } = dataPurchaseRequest.safeParse({ ...order, phone_number: phoneNumber, reference: "order-1" });
    expect(error?.issues.map(({ path }) => path)).toEqual([["phone_number"]]);
  }
});

test("an identity request is invalid in every stored field that contains its NIN or BVN", () => {
  const stored = { is_consent: true, purpose: "check 123 4567 8901", reference: "12345678901-a" };
  for (const { error } of [
    ninVerifyRequest.safeParse({ nin: "12345678901", ...stored }),
    bvnVerifyRequest.safeParse({ bvn: "12345678901", ...stored }),
  ]) {
    expect(new Set(error?.issues.map(({ path }) => path[0]))).toEqual(new Set(["purpose", "reference"]));
  }
});

test.each([
  "１２３４５６７８９０１",
  "١٢٣ ٤٥٦٧ ٨٩٠١",
  "𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗𝟎𝟏",
  "①②③④⑤⑥⑦⑧⑨⓪①",
  "1२३4५६7८९0१",
  "a1b2c3d4e5f6g7h8i9j0k1",
])("an identity request is invalid in its purpose %s, which is its number in other digits", (purpose) => {
  const { error } = ninVerifyRequest.safeParse({ nin: "12345678901", is_consent: true, purpose });
  expect(error?.issues).toContainEqual(expect.objectContaining({ path: ["purpose"], message: MESSAGE }));
});

test.each([
  "of 22212345678",
  "account 0123456789",
  "222 1234-5678.90",
  "٢٢٢١٢٣٤٥٦٧٨",
  "2\u200b2\u200b2\u200b1\u200b2\u200b3\u200b4\u200b5\u200b6\u200b7",
])("an identity request is invalid in a purpose with any number of ten or more digits: %s", (purpose) => {
  const { error } = ninVerifyRequest.safeParse({ nin: "12345678901", is_consent: true, purpose });
  expect(error?.issues.map(({ path, message }) => ({ path, message }))).toEqual([
    { path: ["purpose"], message: "Must not contain a number of 10 or more digits: it is stored in clear text" },
  ]);
});

test.each(["loan 77 of 2026-11-22", "123456789", "step 12345 of case 67890"])(
  "an identity request may have the purpose %s",
  (purpose) => {
    const request = { nin: "12345678901", is_consent: true, purpose };
    expect(ninVerifyRequest.parse(request)).toMatchObject(request);
  },
);

test("digits of every alphabet that the platform knows have their value", () => {
  for (const system of Intl.supportedValuesOf("numberingSystem")) {
    const digits = new Intl.NumberFormat(`en-u-nu-${system}`, { useGrouping: false }).format(9_876_543_210);
    // Algorithmic and ideographic numerals are words, not digits.
    if (/^\p{Nd}{10}$/u.test(digits)) expect(asciiDigits(digits), system).toBe("9876543210");
  }
  expect(asciiDigits("٠۰०𝟬１¹①")).toBe("0000111");
});

describe("the evidence of a consent", () => {
  const evidence = { method: "otp", id: "otp-5f2c", obtained_at: "2026-11-21T10:30:00+01:00", text_version: "terms-3" };
  const parse = (changes: object, nin = "12345678901") =>
    ninVerifyRequest.safeParse({ nin, is_consent: true, consent_evidence: { ...evidence, ...changes } });
  const uuid = "11112222-3333-4444-8555-666677778888";

  test.each([{}, { text_version: undefined }, { id: uuid }, { id: "2026-11:77" }, { method: "ninauth" }])(
    "is accepted with %o",
    (changes) => {
      expect(parse(changes).data?.consent_evidence).toEqual(JSON.parse(JSON.stringify({ ...evidence, ...changes })));
    },
  );

  test.each([
    { id: "08031234567" },
    { id: "otp:0803-123-4567" },
    { id: "22212345678" },
    { id: "00000000-0000-0000-0008-122212345678" },
    { text_version: "1234567890" },
    { id: "" },
    { id: "x".repeat(101) },
    { text_version: "x".repeat(41) },
    { id: "a b" },
    { id: 7 },
    { method: "verbal" },
    { method: undefined },
    { obtained_at: "2026-11-21" },
    { obtained_at: "0000-01-01T00:00:00+14:00" },
    { obtained_at: 1_764_158_400 },
  ])("is refused with %o, by a message that names the field", (changes) => {
    const issues = parse(changes).error?.issues ?? [];
    expect(issues.map(({ path }) => path[0])).toEqual(issues.map(() => "consent_evidence"));
    expect(issues[0]?.message).toMatch(new RegExp(`^${Object.keys(changes)[0]}: Must `));
  });

  test("is refused with the request's own number, also within a UUID", () => {
    for (const [changes, nin] of [
      [{ id: uuid }, "22333344448"],
      [{ text_version: "a1.23456.b78901" }, "12345678901"],
    ] as const) {
      expect(parse(changes, nin).error?.issues).toMatchObject([{ path: ["consent_evidence"], message: MESSAGE }]);
    }
  });
});
