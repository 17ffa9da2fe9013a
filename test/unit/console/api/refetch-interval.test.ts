import { expect, test } from "vitest";
import { ActionError } from "../../../../console/api/action-error.ts";
import { refetchInterval } from "../../../../console/api/refetch-interval.ts";

const everyMs = 30_000;
const after = (error: Error | null, data?: string) => ({ state: { data, error } });

test("a read is repeated also after it failed, and not once it was refused or the sign-in has ended", () => {
  const interval = refetchInterval<string>(everyMs);
  expect(interval(after(null))).toBe(everyMs);
  expect(interval(after(null, "read"))).toBe(everyMs);
  expect(interval(after(new ActionError("The service failed.", { status: 503 }), "read"))).toBe(everyMs);
  expect(interval(after(new ActionError("Too many requests.", { status: 429 }), "read"))).toBe(everyMs);
  expect(interval(after(new ActionError("The service cannot be reached."), "read"))).toBe(everyMs);
  expect(interval(after(new ActionError("There is no such order.", { status: 404 })))).toBe(false);
  expect(interval(after(new ActionError("This page is older than the service.", { status: 200 }), "read"))).toBe(false);
  expect(interval(after(new ActionError("Your sign-in has ended.", { status: 401 }), "read"))).toBe(false);
});

test("a read is repeated while what was read is followed", () => {
  const interval = refetchInterval(everyMs, (status: string) => status === "processing");
  expect(interval(after(null))).toBe(everyMs);
  expect(interval(after(null, "processing"))).toBe(everyMs);
  expect(interval(after(null, "success"))).toBe(false);
});
