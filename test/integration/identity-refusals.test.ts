import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aNinCheck, aRetrieval, identityRoutes } from "../builders/identity.ts";
import { FUNDS, type IdentityService, startIdentityService, VERIFY_NIN } from "../builders/identity-service.ts";

/** Goal: a check that cannot be made costs nothing and is not sent. */
let service: IdentityService;
beforeAll(async () => {
  service = await startIdentityService();
});
afterAll(() => service.stop());

describe("a check that cannot be made: nothing is charged and nothing is sent", () => {
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

  test("a virtual NIN of 16 characters gets a message of its own", async () => {
    const virtual = await service.refused(VERIFY_NIN, aNinCheck({ nin: "AB012345678910YZ" }));
    const short = await service.refused(VERIFY_NIN, aNinCheck({ nin: "1234567890" }));
    expect(virtual.status).toBe(422);
    expect(virtual.body.errors?.nin?.join()).toMatch(/virtual/i);
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

  test.each([["+2348031234567"], ["0803123456"], ["08231234567"]])("retrieval by %s is 422", async (phone_number) => {
    const answer = await service.refused("/identity/nin/retrieve", aRetrieval({ phone_number }));
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.errors ?? {})).toEqual(["phone_number"]);
  });

  test("a purpose of 101 characters is 422 on purpose", async () => {
    const answer = await service.refused(VERIFY_NIN, aNinCheck({ purpose: "p".repeat(101) }));
    expect(Object.keys(answer.body.errors ?? {})).toEqual(["purpose"]);
  });

  test("a reference and another Idempotency-Key are 422 on reference", async () => {
    const answer = await service.refused(VERIFY_NIN, aNinCheck({ reference: "one" }), {
      headers: { "Idempotency-Key": "two" },
    });
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.errors ?? {})).toEqual(["reference"]);
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
      expect(await caller.balance()).toBe(FUNDS);
      expect(service.requestCount()).toBe(before);
      const verified = await service.call("POST", VERIFY_NIN, { key, body: aNinCheck() });
      expect(verified.status).toBe(200);
    },
  );
});
