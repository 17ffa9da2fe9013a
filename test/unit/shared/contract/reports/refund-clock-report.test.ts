import { expect, test } from "vitest";
import { clockReport } from "../../../../../shared/contract/reports/refund-clock-report.ts";

const sums = { kind: null, network: null, cause: null };

test.each([
  [57, 100, 57],
  [43, 125, 34.4],
  [2, 3, 66.66],
  [99_999, 100_000, 99.99],
  [0, 1, 0],
  [1, 1, 100],
  [0, 0, null],
])("%d of %d orders that ended within 30 s are %s percent, rounded down", (atOnce, orders, percent) => {
  const ended = [
    { ...sums, end: "delivered_30_s", count: atOnce },
    { ...sums, end: "refunded_later", count: orders - atOnce },
  ] as const;
  const page = { ended: [...ended], open_over_24_h: 0, accounts: 1, complete_until: null, next_cursor: null };
  expect(clockReport([page]).total.within_30_s_percent).toBe(percent);
});
