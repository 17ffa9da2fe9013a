import { expect, test } from "vitest";
import { isInactive } from "../../../../shared/access/key-item.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { NOON_MS } from "../../../builders/noon.ts";

const DAY_MS = 86_400_000;

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
