import { expect, test } from "vitest";
import { takerOf } from "../../../../shared/ledger/take-order.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

test("an open order is that of the person who took it less than 30 minutes ago, and nobody's otherwise", () => {
  const taken = { by: "ada", at: isoTime(NOON_MS) };
  const order = { taken_by: "ada", taken_at: isoTime(NOON_MS), status: "processing" } as const;
  expect(takerOf(order, NOON_MS + 30 * 60_000 - 1)).toEqual(taken);
  expect(takerOf(order, NOON_MS + 30 * 60_000)).toBeUndefined();
  expect(takerOf({ ...order, status: "success" }, NOON_MS)).toBeUndefined();
  expect(takerOf({ status: "processing" }, NOON_MS)).toBeUndefined();
});
