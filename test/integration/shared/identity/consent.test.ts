import { describe, expect, test } from "vitest";
import { FUNDS, identityServiceForTests, pkOf, VERIFY_NIN } from "../../../builders/service/identity-service.ts";
import type { Answer } from "../../../builders/service/service.ts";
import { aNinCheck, identityRoutes } from "../../../builders/upstream/identity.ts";

/** Goal: without consent no record is requested, and every accepted request stores its consent. */
const service = await identityServiceForTests();

test.each(identityRoutes)(
  "without consent, or with another value than true, a check at $path is refused, and nothing is charged or sent",
  async ({ path, body }) => {
    const caller = await service.newCaller({ naira: FUNDS });
    const before = service.requestCount();
    for (const is_consent of [undefined, false, "true", 1, null, "yes", [], {}]) {
      const answer = await service.call("POST", path, { key: caller.key, body: { ...body, is_consent } });
      expect([answer.status, answer.headers.get("x-error-code")], JSON.stringify(is_consent)).toEqual(
        is_consent === undefined ? [400, "consent_required"] : [422, "validation_failed"],
      );
      expect(Object.keys(answer.body.errors ?? {})).toEqual(["is_consent"]);
      expect(answer.headers.get("x-transaction-reference")).toBeNull();
    }
    expect(await caller.balance()).toBe(FUNDS);
    expect(service.requestCount()).toBe(before);
  },
);

describe("the consent record", () => {
  const consentOf = (answer: Answer) => service.itemOf("ledger", `consent#${pkOf(answer)}`);

  test.each(["live", "test"] as const)(
    "the consent of a %s check says who requested whose record, without the number",
    async (mode) => {
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
        subject_key: "mrk-local",
        operation: "nin_verification",
        extent: "advanced",
        purpose: "account opening",
        request_id: answer.headers.get("x-request-id"),
        created_at: expect.any(String),
      });
      expect(JSON.stringify(record)).not.toContain(body.nin);
    },
  );

  test("a purpose that was cut within a character is stored, though DynamoDB refuses half of a surrogate pair", async () => {
    const { key } = await service.newCaller();
    const body = aNinCheck({ purpose: "loan 😀".slice(0, -1) });
    const answer = await service.call("POST", VERIFY_NIN, { key, body });
    expect(answer.status).toBe(200);
    expect(await consentOf(answer)).toMatchObject({ purpose: "loan \ufffd" });
  });

  test("evidence is stored with the consent, its time in UTC, and is in no request to the upstream", async () => {
    const { key } = await service.newCaller();
    const sent = {
      method: "igree",
      id: "igree-77f0",
      obtained_at: "2026-11-21T10:30:00+01:00",
      text_version: "terms-3",
    };
    const from = service.simulator.state.requests.length;
    for (const { path, body } of identityRoutes) {
      const answer = await service.call("POST", path, { key, body: { ...body, consent_evidence: sent } });
      expect((await consentOf(answer))?.evidence).toEqual({ ...sent, obtained_at: "2026-11-21T09:30:00.000Z" });
    }
    const bodies = JSON.stringify(service.simulator.state.requests.slice(from));
    expect(bodies).toContain("is_consent");
    for (const text of ["evidence", "igree", "2026-11-21T", "terms-3"]) expect(bodies).not.toContain(text);
  });

  test("evidence of a consent in the future is 422, and nothing is charged or sent; a clock may be 5 minutes ahead", async () => {
    const obtainedIn = (minutes: number) => {
      const obtained_at = new Date(Date.now() + minutes * 60_000).toISOString();
      return aNinCheck({ consent_evidence: { method: "otp", id: "a", obtained_at } });
    };
    const answer = await service.refused(VERIFY_NIN, obtainedIn(6));
    expect(answer.status).toBe(422);
    expect(answer.body.errors).toEqual({ consent_evidence: ["obtained_at: Must not be in the future"] });
    const { key } = await service.newCaller();
    expect((await service.call("POST", VERIFY_NIN, { key, body: obtainedIn(4) })).status).toBe(200);
  });
});
