import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { setEntitlements } from "../../../../shared/access/accounts.ts";
import { asciiDigits } from "../../../../shared/contract/ascii-digits.ts";
import { ALL_ENTITLEMENTS } from "../../../../shared/contract/permission.ts";
import { localTableNames } from "../../../../tools/local/tables.ts";
import { aNinCheck, aRetrieval, identityRoutes } from "../../../builders/identity.ts";
import { FUNDS, type IdentityService, startIdentityService, VERIFY_NIN } from "../../../builders/identity-service.ts";

/** Goal: an invalid request for a check is not charged and not sent upstream. */
let service: IdentityService;
beforeAll(async () => {
  service = await startIdentityService();
});
afterAll(() => service.stop());

describe("invalid requests", () => {
  const numbers: readonly (readonly [string, unknown])[] = [
    ["10 digits", "1234567890"],
    ["12 digits", "123456789012"],
    ["a letter", "1234567890a"],
    ["a number instead of text", 12_345_678_901],
    ["a space", "12345 67890"],
    ["a trailing newline", "12345678901\n"],
    ["Arabic digits", "١٢٣٤٥٦٧٨٩٠١"],
    ["null", null],
    ["nothing in it", ""],
  ];
  const subjects = identityRoutes.filter(({ field }) => field !== "phone_number");
  const cases = subjects.flatMap((route) => numbers.map(([what, value]) => ({ ...route, what, value })));
  test.each(cases)("a $field with $what is 422 on it", async ({ path, body, field, value }) => {
    const answer = await service.refused(path, { ...body, [field]: value });
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.errors ?? {})).toEqual([field]);
  });

  test("a virtual NIN of 16 characters is refused without a hint to obtain the person's NIN", async () => {
    const virtual = await service.refused(VERIFY_NIN, aNinCheck({ nin: "AB012345678910YZ" }));
    const short = await service.refused(VERIFY_NIN, aNinCheck({ nin: "1234567890" }));
    expect(virtual.status).toBe(422);
    expect(virtual.body.errors?.nin).toEqual(["Is a virtual NIN: this upstream takes the 11-digit number only"]);
    expect(short.body.errors?.nin?.join()).not.toMatch(/virtual/i);
  });

  test.each([["full"], [null], [1], [""], [" basic"]])("mode %j is 422 on mode", async (mode) => {
    const answer = await service.refused(VERIFY_NIN, aNinCheck({ mode }));
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.errors ?? {})).toEqual(["mode"]);
  });

  test.each(identityRoutes)("$path without its number is 400 missing_parameter", async ({ path, body, field }) => {
    const answer = await service.refused(path, { ...body, [field]: undefined });
    expect(answer.status).toBe(400);
    expect(answer.headers.get("x-error-code")).toBe("missing_parameter");
    expect(Object.keys(answer.body.errors ?? {})).toEqual([field]);
  });

  test.each([["+2348031234567"], ["0803123456"], ["08231234567"]])("retrieval by %s is 422", async (phoneNumber) => {
    const answer = await service.refused("/identity/nin/retrieve", aRetrieval({ phone_number: phoneNumber }));
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.errors ?? {})).toEqual(["phone_number"]);
  });

  test("a purpose of 101 characters is 422 on purpose", async () => {
    const answer = await service.refused(VERIFY_NIN, aNinCheck({ purpose: "p".repeat(101) }));
    expect(Object.keys(answer.body.errors ?? {})).toEqual(["purpose"]);
  });

  const ownNumbers = identityRoutes.flatMap((route) => {
    const number = Object.entries(route.body).find(([name]) => name === route.field)?.[1];
    const digits = String(number);
    return [digits, `check-${digits}-1`, digits.replace(/(.{4})(.{3})/, "$1-$2."), digits.split("").join("x")].map(
      (text) => ({ ...route, text }),
    );
  });
  test.each(ownNumbers)("$path with its own $field as its reference ($text) is 422 on reference", async (own) => {
    const answer = await service.refused(own.path, { ...own.body, reference: own.text });
    expect([answer.status, answer.headers.get("x-error-code")]).toEqual([422, "validation_failed"]);
    expect(answer.body.errors).toEqual({
      reference: ["Must not contain the request's NIN, BVN or phone number: it is stored in clear text"],
    });
  });

  test.each(ownNumbers)("$path with its own $field as its Idempotency-Key ($text) is 422 on reference", async (own) => {
    const answer = await service.refused(own.path, own.body, { headers: { "Idempotency-Key": own.text } });
    expect([answer.status, Object.keys(answer.body.errors ?? {})]).toEqual([422, ["reference"]]);
  });

  test.each(ownNumbers)("$path with its own $field in its purpose ($text) is 422 on purpose", async (own) => {
    const answer = await service.refused(own.path, { ...own.body, purpose: `loan of ${own.text}` });
    expect([answer.status, Object.keys(answer.body.errors ?? {})]).toEqual([422, ["purpose"]]);
  });

  test.each(["AB012345678910YZ", "app:ab0123-4567.8910_yz"])("a virtual NIN counts too (%s)", async (reference) => {
    const answer = await service.refused(VERIFY_NIN, aNinCheck({ nin: "AB012345678910YZ", reference }));
    expect([answer.status, Object.keys(answer.body.errors ?? {})]).toEqual([422, ["reference"]]);
  });

  test("a phone number in international form counts too, and another person's number does not", async () => {
    const { path } = { path: "/identity/nin/retrieve" };
    const refused = await service.refused(path, aRetrieval({ reference: "app:2348031234560" }));
    expect(Object.keys(refused.body.errors ?? {})).toEqual(["reference"]);
    const { key } = await service.newCaller({ naira: FUNDS });
    const body = aRetrieval({ reference: "app:2348031234561", purpose: "for 123456789" });
    expect((await service.call("POST", path, { key, body })).status).toBe(200);
  });

  test("after such refusals the number is not in any table", async () => {
    const nin = "98765432109";
    await service.refused(VERIFY_NIN, aNinCheck({ nin, reference: nin, purpose: nin }));
    await service.refused(VERIFY_NIN, aNinCheck({ nin, purpose: "９８７６５４３２１０９" }));
    await service.refused(VERIFY_NIN, aNinCheck({ nin, purpose: "٩٨٧٦٥٤٣٢١٠٩" }));
    await service.refused(VERIFY_NIN, aNinCheck({ nin }), { headers: { "Idempotency-Key": nin } });
    for (const TableName of Object.values(localTableNames)) {
      const { Items = [] } = await service.db.scan({ TableName });
      expect(asciiDigits(JSON.stringify(Items))).not.toContain(nin);
    }
  });

  test("an advanced check of an account that is entitled to basic ones only is 403, and a basic one is answered", async () => {
    const caller = await service.newCaller({ naira: FUNDS });
    const key = await caller.newKey({ permissions: ["identity"] });
    await setEntitlements(service.accounts, caller.accountId, { identity: null });
    const body = aNinCheck({ mode: "advanced", reference: "one" });
    const answer = await service.call("POST", VERIFY_NIN, { key, body });
    expect([answer.status, answer.headers.get("x-error-code")]).toEqual([403, "permission_denied"]);
    expect(await caller.balance()).toBe(FUNDS);
    expect((await service.call("POST", VERIFY_NIN, { key, body: aNinCheck() })).status).toBe(200);
    // The refusal denies the reference to nobody, and what was placed before is replayed.
    await setEntitlements(service.accounts, caller.accountId, ALL_ENTITLEMENTS);
    const placed = await service.call("POST", VERIFY_NIN, { key: caller.key, body });
    await setEntitlements(service.accounts, caller.accountId, { identity: null });
    const replayed = await service.call("POST", VERIFY_NIN, { key, body });
    expect([placed.status, replayed.status]).toEqual([200, 200]);
    expect(replayed.headers.get("idempotent-replayed")).toBe("true");
  });

  test("a check beyond the account's daily quota is 429 until midnight in Lagos, and a test one is not counted", async () => {
    const caller = await service.newCaller({ naira: FUNDS });
    await setEntitlements(service.accounts, caller.accountId, { identity: 1 });
    expect((await service.call("POST", VERIFY_NIN, { key: caller.key, body: aNinCheck() })).status).toBe(200);
    const answer = await service.refused(VERIFY_NIN, aNinCheck(), { key: caller.key });
    expect([answer.status, answer.headers.get("x-error-code")]).toEqual([429, "rate_limited"]);
    const now = Date.now() + 3_600_000;
    const midnightS = (86_400_000 - (now % 86_400_000)) / 1_000;
    expect(Math.abs(Number(answer.headers.get("retry-after")) - midnightS)).toBeLessThan(30);
    const key = await caller.newKey({ mode: "test", permissions: ["identity"] });
    for (const status of [200, 200]) {
      expect((await service.call("POST", VERIFY_NIN, { key, body: aNinCheck() })).status).toBe(status);
    }
  });

  test.each(["/identity/nin/retrieve", "/identity/bvn/retrieve"])(
    "%s with a key that lacks identity:retrieve is 403 permission_denied",
    async (path) => {
      const caller = await service.newCaller({ naira: FUNDS });
      const key = await caller.newKey({ permissions: ["vtu", "identity"] });
      const before = service.requestCount();
      const answer = await service.call("POST", path, { key, body: aRetrieval() });
      expect(answer.status).toBe(403);
      expect(answer.headers.get("x-error-code")).toBe("permission_denied");
      expect(answer.body.message).toBe("This API key lacks the permission identity:retrieve");
      expect(await caller.balance()).toBe(FUNDS);
      expect(service.requestCount()).toBe(before);
      const verified = await service.call("POST", VERIFY_NIN, { key, body: aNinCheck() });
      expect(verified.status).toBe(200);
    },
  );
});
