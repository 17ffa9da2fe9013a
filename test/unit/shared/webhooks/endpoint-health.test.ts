import { expect, test } from "vitest";
import { isDown } from "../../../../shared/webhooks/endpoint-health.ts";

test("an endpoint is down once three different events have failed, and not before", () => {
  expect([undefined, [], ["one"], ["one", "two"], ["one", "two", "three"]].map((events) => isDown(events))).toEqual([
    ...[false, false, false, false, true],
  ]);
});
