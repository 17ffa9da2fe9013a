import { expect, test } from "vitest";
import { storedEventSchema } from "../../../../shared/upstream-events/stored-event.ts";

const stored = {
  pk: "event#0123456789abcdef",
  list_key: "events",
  state: "open",
  created_at: "2026-11-21T09:30:00.000Z",
};
const readable = { ...stored, reference: "UP_1", says: "failed" };

test.each(["contradiction", "unauthenticated", "no_candidate", "several_candidates", "unknown_failure"])(
  "a stored event with the reason %s is read as it is",
  (reason) => {
    expect(storedEventSchema.parse({ ...readable, reason })).toEqual({ ...readable, reason });
  },
);

test("an unreadable event is recognised by its reason", () => {
  const event = { ...stored, reason: "unreadable", problem: "status absent" };
  expect(storedEventSchema.parse(event)).toEqual(event);
});

test("an unknown reason is refused", () => {
  expect(storedEventSchema.safeParse({ ...readable, reason: "other" }).success).toBe(false);
});
