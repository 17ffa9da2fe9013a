import { expect, test } from "vitest";
import { nextToClose } from "../../../../shared/periods/close-period.ts";
import { sampleDates } from "../../../../tools/local/sample-books.ts";

const ZONE = "Africa/Lagos";
/** The first moment of December in Lagos. */
const MONTH_STARTS_MS = Date.parse("2026-11-30T23:00:00.000Z");

test.for([
  [-1, "2026-10"],
  [119_999, "2026-10"],
  [120_000, "2026-11"],
] as const)(
  "%i ms after a month has begun, the first month to close is the last one that can be closed: %s",
  ([afterMs, month]) => {
    const nowMs = MONTH_STARTS_MS + afterMs;
    const next = nextToClose({ clock: () => nowMs }, undefined, ZONE);
    expect(next.month).toBe(month);
    expect(Date.parse(next.from)).toBeLessThanOrEqual(nowMs);
    expect(sampleDates(nowMs, ZONE).lastMonth).toBe(month);
  },
);
