import { expect, test } from "vitest";
import { nextToClose } from "../../../../shared/periods/month-to-close.ts";
import { sampleDates } from "../../../../tools/local/sample-books.ts";

const ZONE = "Africa/Lagos";
/** The first moment of December in Lagos. */
const MONTH_STARTS_MS = Date.parse("2026-11-30T23:00:00.000Z");

test.for([
  [-1, 0, "2026-10"],
  [119_999, 0, "2026-10"],
  [120_000, 0, "2026-11"],
  [1_019_999, 15, "2026-10"],
  [1_020_000, 15, "2026-11"],
] as const)(
  "%i ms after a month has begun, where orders wait for %i minutes, the first month to close is the last one that can be closed: %s",
  ([afterMs, queueMinutes, month]) => {
    const nowMs = MONTH_STARTS_MS + afterMs;
    const settings = { timeZone: ZONE, queueMinutes };
    const next = nextToClose({ clock: () => nowMs }, undefined, settings);
    expect(next.month).toBe(month);
    expect(Date.parse(next.from)).toBeLessThanOrEqual(nowMs);
    expect(sampleDates(nowMs, settings).lastMonth).toBe(month);
  },
);
