import { describe, expect, test } from "vitest";
import { bookingTime, isSealedAt } from "../../../../shared/ledger/wallet-seal.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

const NOON = isoTime(NOON_MS);
const ledger = { clock: () => NOON_MS };

describe("a sealed wallet", () => {
  test("refuses what is dated until its seal, and nothing later", () => {
    expect([-1, 0, 1].map((ms) => isSealedAt({ sealed_to: NOON }, isoTime(NOON_MS + ms)))).toEqual([true, true, false]);
    expect([isSealedAt({}, NOON), isSealedAt(undefined, NOON)]).toEqual([false, false]);
  });

  test("is booked now, or a millisecond after its seal if the clock is slow", () => {
    expect(bookingTime(ledger)).toBe(NOON);
    expect(bookingTime(ledger, isoTime(NOON_MS - 1))).toBe(NOON);
    expect(bookingTime(ledger, NOON)).toBe(isoTime(NOON_MS + 1));
  });
});
