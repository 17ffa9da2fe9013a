import { expect, test } from "vitest";
import { bundleName } from "../../../../shared/purchase/buy-data.ts";

test.each([
  // At most 90 characters, so that the transaction stays below 1 KB.
  ["MTN", "G".repeat(120), `MTN ${"G".repeat(86)}`],
  // DynamoDB refuses half of a surrogate pair.
  ["MTN", `${"G".repeat(85)}😀`, `MTN ${"G".repeat(85)}\ufffd`],
  ["MTN", "MTN 110MB", "MTN 110MB"],
  ["MTN", "mtn 110MB", "mtn 110MB"],
  ["MTN", "MTN-110MB", "MTN-110MB"],
  ["MTN", "MTN", "MTN"],
  ["MTN", "MTNX 110MB", "MTN MTNX 110MB"],
  ["Glo", "Global 1GB", "Glo Global 1GB"],
  ["Glo", "1GB by Glo", "Glo 1GB by Glo"],
  ["9mobile (T2)", "9mobile (T2) 1GB", "9mobile (T2) 1GB"],
])("of %s, its plan %j is the bundle %j, which names the network once", (network, plan, bundle) => {
  expect(bundleName({ name: network }, { name: plan })).toBe(bundle);
});
