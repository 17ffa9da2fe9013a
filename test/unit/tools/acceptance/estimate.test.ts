import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { HOUR_MS } from "../../../../shared/contract/values/durations.ts";
import { sum } from "../../../../shared/platform/sum.ts";
import { estimateDollars } from "../../../../tools/acceptance/estimate.ts";
import { egressSettings, monthlyUsageAtRest } from "../../../../tools/costs/at-rest.ts";
import { requestCosts } from "../../../../tools/costs/costs.ts";
import { dollarsOf } from "../../../../tools/costs/prices.ts";
import { docsUrl } from "../../../../tools/docs/sections.ts";

test("an acceptance is estimated as each begun hour of a stage without egress, and each request as a purchase with its event and webhook", () => {
  const monthly = sum(Object.values(monthlyUsageAtRest(egressSettings.none)).map((usage) => dollarsOf(usage)));
  const requests = requestCosts().filter(({ title }) => ["live purchase", "upstream event", "webhook"].includes(title));
  const million = requests.reduce((sum, { total }) => sum + total, 0);
  expect(estimateDollars(0, HOUR_MS + 1)).toBeCloseTo((2 * monthly) / 730, 10);
  expect(estimateDollars(500, HOUR_MS)).toBeCloseTo(monthly / 730 + (million * 500) / 1_000_000, 10);
});

test("docs/acceptance.md says what an hour with 1,200 requests is estimated to cost", () => {
  const page = readFileSync(docsUrl("acceptance.md"), "utf8");
  expect(page).toContain(`${estimateDollars(1_200, HOUR_MS).toFixed(2)} USD for an hour and 1,200 requests`);
});
