import { afterAll, beforeAll, expect, test } from "vitest";
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

test("a virtual NIN of 16 characters is refused without a hint to obtain the person's NIN", async () => {
  const virtual = await service.refused(VERIFY_NIN, aNinCheck({ nin: "AB012345678910YZ" }));
  const short = await service.refused(VERIFY_NIN, aNinCheck({ nin: "1234567890" }));
  expect(virtual.status).toBe(422);
  expect(virtual.body.errors?.nin).toEqual(["Is a virtual NIN: this upstream takes the 11-digit number only"]);
  expect(short.body.errors?.nin?.join()).not.toMatch(/virtual/i);
});

test.each(identityRoutes)("$path with its own $field in reference and purpose is 422 on both", async (route) => {
  const own = String(Object.entries(route.body).find(([name]) => name === route.field)?.[1]);
  const answer = await service.refused(route.path, { ...route.body, reference: own, purpose: `loan of ${own}` });
  expect([answer.status, answer.headers.get("x-error-code")]).toEqual([422, "validation_failed"]);
  expect(new Set(Object.keys(answer.body.errors ?? {}))).toEqual(new Set(["reference", "purpose"]));
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
