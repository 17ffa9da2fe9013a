import { expect, test } from "vitest";
import { setEntitlements } from "../../../../shared/access/accounts.ts";
import { ALL_ENTITLEMENTS } from "../../../../shared/contract/permission.ts";
import { asciiDigits } from "../../../../shared/contract/values/ascii-digits.ts";
import { localTableNames } from "../../../../tools/local/tables.ts";
import { FUNDS, identityServiceForTests, VERIFY_NIN } from "../../../builders/service/identity-service.ts";
import { aNinCheck, identityRoutes } from "../../../builders/upstream/identity.ts";

/** Goal: an invalid request for a check is not charged and not sent upstream. */
const service = await identityServiceForTests();

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
