import { expect, test } from "vitest";
import { addAsRevoked, earlierExpiry, fieldsUpdate, isInactive } from "../../../../shared/access/key-item.ts";
import type { KeyItem } from "../../../../shared/access/key-store.ts";
import { DAY_MS } from "../../../../shared/contract/values/durations.ts";
import { documentClient } from "../../../../shared/platform/aws-clients.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { checksumKey } from "../../../builders/ledger/secrets.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

test.each([
  ["without an end", false, undefined],
  ["that ends now", false, NOON_MS],
  ["that ended a millisecond less than a day ago", false, NOON_MS - DAY_MS + 1],
  ["that ended a day ago", true, NOON_MS - DAY_MS],
])("a key %s is inactive on every clock: %s", (_name, inactive, endMs) => {
  const key = { status: "active", ...(endMs !== undefined && { expires_at: isoTime(endMs) }) } as const;
  expect(isInactive(key, NOON_MS)).toBe(inactive);
});

test("a revoked key is inactive", () => {
  expect(isInactive({ status: "revoked" }, NOON_MS)).toBe(true);
});

test("a key that only the access table has is added as revoked, and one that is listed is revoked in its place", () => {
  const end = isoTime(NOON_MS + DAY_MS);
  const stored: KeyItem = {
    ...{ pk: "hash-2", key_id: "key_2", account_id: "acc_1", account_status: "active", mode: "live" },
    ...{ status: "active", permissions: new Set(["vtu"]), entitlements: {} },
  };
  const listed = { key_id: "key_1", hash: "hash-1", name: "Shop", mode: "test", status: "active" } as const;
  const first = { ...listed, permissions: [], created_at: isoTime(0) };
  const added = {
    ...{ key_id: "key_2", hash: "hash-2", name: "Unlisted key", mode: "live", status: "revoked" },
    ...{ permissions: ["vtu"], created_at: isoTime(NOON_MS) },
  };
  expect(addAsRevoked([first], stored, NOON_MS)).toStrictEqual([first, added]);
  expect(addAsRevoked([first], { ...stored, permissions: undefined, expires_at: end }, NOON_MS)).toStrictEqual([
    first,
    { ...added, permissions: [], expires_at: end },
  ]);
  const second = { ...first, key_id: "key_2", hash: "hash-2" };
  expect(addAsRevoked([first, second], stored, NOON_MS)).toStrictEqual([first, { ...second, status: "revoked" }]);
});

test("a change that only removes a field has no values, which DynamoDB would refuse empty", () => {
  const store = { db: documentClient(), accessTable: "access", ledgerTable: "ledger", checksumKey };
  const { write } = fieldsUpdate(store, { key_id: "key_1", hash: "hash-1" }, { price_list: undefined });
  expect(write.Update).toMatchObject({ UpdateExpression: "REMOVE #price_list" });
  expect(write.Update).not.toHaveProperty("ExpressionAttributeValues");
});

test.each([
  [undefined, undefined, undefined],
  ["2026-11-21", undefined, "2026-11-21"],
  [undefined, "2026-11-21", "2026-11-21"],
  ["2026-11-21", "2026-11-22", "2026-11-21"],
  ["2026-11-22", "2026-11-21", "2026-11-21"],
])("of the ends %s and %s of a key %s is the earlier one", (one, other, earlier) => {
  expect(earlierExpiry(one, other)).toBe(earlier);
});
