import { expect, test } from "vitest";
import { ActionError } from "../../../../console/api/action-error.ts";
import { refetchInterval } from "../../../../console/api/refetch-interval.ts";

const everyMs = 30_000;
const after = (error: Error | null, data?: string) => ({ state: { data, error } });

test("a read is repeated also after it failed, and not once the sign-in has ended", () => {
  const interval = refetchInterval<string>(everyMs);
  expect(interval(after(null))).toBe(everyMs);
  expect(interval(after(null, "read"))).toBe(everyMs);
  expect(interval(after(new ActionError("The service failed.", { status: 503 }), "read"))).toBe(everyMs);
  expect(interval(after(new ActionError("Your sign-in has ended.", { status: 401 }), "read"))).toBe(false);
});

test("a read is repeated while what was read is followed", () => {
  const interval = refetchInterval(everyMs, (status: string) => status === "processing");
  expect(interval(after(null))).toBe(everyMs);
  expect(interval(after(null, "processing"))).toBe(everyMs);
  expect(interval(after(null, "success"))).toBe(false);
});
