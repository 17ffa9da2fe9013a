import { expect, test } from "vitest";
import { unusedRate } from "../../../../shared/call/result.ts";
import { rateGroups } from "../../../../shared/contract/limits.ts";
import { routes } from "../../../../shared/contract/routes.ts";

test("the unused rate of every group is its limit in the table, with all requests remaining", () => {
  for (const { group } of Object.values(routes)) {
    const { requestsPerMinute } = rateGroups[group];
    expect(unusedRate(group), group).toEqual({ limit: requestsPerMinute, remaining: requestsPerMinute });
  }
});
