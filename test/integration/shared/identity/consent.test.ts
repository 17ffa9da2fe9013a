import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aNinCheck, identityRoutes } from "../../../builders/identity.ts";
import {
  type IdentityService,
  pkOf,
  refusal,
  startIdentityService,
  VERIFY_NIN,
} from "../../../builders/identity-service.ts";
import type { Answer } from "../../../builders/service.ts";

/** Goal: nobody is searched for without consent, and who asked for whom is on record. */
let service: IdentityService;
beforeAll(async () => {
  service = await startIdentityService();
});
afterAll(() => service.stop());

describe("consent that is not given: nothing is charged and nothing is sent", () => {
  test.each(identityRoutes)("absent from $path: 400 consent_required", async ({ path, body }) => {
    const answer = await service.refused(path, { ...body, is_consent: undefined });
    expect(answer.status).toBe(400);
    expect(answer.headers.get("x-error-code")).toBe("consent_required");
    expect(Object.keys(answer.body.errors ?? {})).toEqual(["is_consent"]);
  });

  const values: readonly unknown[] = [false, "true", 1, null, "yes", [], {}];
  const cases = identityRoutes.flatMap(({ path, body }) => values.map((value) => ({ path, body, value })));
  test.each(cases)("$value at $path: 422 in errors.is_consent", async ({ path, body, value }) => {
    const answer = await service.refused(path, { ...body, is_consent: value });
    expect(answer.status).toBe(422);
    expect(answer.headers.get("x-error-code")).toBe("validation_failed");
    expect(Object.keys(answer.body.errors ?? {})).toEqual(["is_consent"]);
  });
});

describe("the consent record", () => {
  const consentOf = (answer: Answer) => service.itemOf("ledger", `consent#${pkOf(answer)}`);

  test.each(["live", "test"] as const)("of a %s check says who asked for whom, and not the number", async (mode) => {
    const caller = await service.newCaller();
    const key = await caller.newKey({ mode });
    const body = aNinCheck({ mode: "advanced", purpose: "account opening" });
    const answer = await service.call("POST", VERIFY_NIN, { key, body });
    const record = await consentOf(answer);
    expect(record).toEqual({
      pk: `consent#${pkOf(answer)}`,
      account_id: caller.accountId,
      key_id: expect.stringMatching(/^key_/),
      mode,
      subject: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      operation: "nin_verification",
      extent: "advanced",
      purpose: "account opening",
      request_id: answer.headers.get("x-request-id"),
      created_at: expect.any(String),
    });
    expect(JSON.stringify(record)).not.toContain(body.nin);
  });

  test("names the same person the same way in every request, and another person otherwise", async () => {
    const { key } = await service.newCaller();
    const subjects: unknown[] = [];
    for (const nin of ["12345678900", "12345678900", "12345678901"]) {
      const answer = await service.call("POST", VERIFY_NIN, { key, body: aNinCheck({ nin }) });
      subjects.push((await consentOf(answer))?.subject);
    }
    const bvn = await service.call("POST", "/identity/bvn/verify", {
      key,
      body: { bvn: "12345678900", is_consent: true },
    });
    subjects.push((await consentOf(bvn))?.subject);
    expect(subjects[0]).toBe(subjects[1]);
    expect(new Set(subjects).size).toBe(3);
  });

  test("stays when the check found nobody", async () => {
    const { answer } = await service.verifyUnder(refusal(404, "No record"));
    expect(await consentOf(answer)).toMatchObject({ operation: "nin_verification", extent: "basic" });
  });

  test("is not written when the wallet cannot pay", async () => {
    const caller = await service.newCaller({ naira: 10 });
    const writes = service.proxy.calls.length;
    const answer = await service.call("POST", VERIFY_NIN, {
      key: caller.key,
      body: aNinCheck({ reference: "too-poor" }),
    });
    expect(answer.headers.get("x-error-code")).toBe("insufficient_balance");
    const operations = service.proxy.calls.slice(writes).map(({ operation }) => operation);
    // The debit, the transaction and the record are one write: nothing else could have left the record behind.
    expect(operations).toEqual(["UpdateItem", "TransactWriteItems"]);
    expect(await service.rowUnder(caller.key, "too-poor")).toBeUndefined();
  });
});
