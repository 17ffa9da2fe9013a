import { expect, test } from "vitest";
import { marginCsv, marginReport } from "../../../../shared/contract/margin-report.ts";

const sums = (price_kobo: number, cost_kobo: number) => ({
  ...{ day: "2026-11-21", network: null, kind: null, account_id: null },
  ...{ orders: 1, price_kobo, cost_kobo, unknown_orders: 0, unknown_price_kobo: 0 },
});

test.each([
  [480_00, 500_00, "-20.00,-4.17"],
  [500_00, 515_00, "-15.00,-3.00"],
  [500_00, 512_50, "-12.50,-2.50"],
  [500_00, 485_00, "15.00,3.00"],
  [0, 500_00, "-500.00,"],
  [8_00, 1_69, "6.31,78.88"],
])("a margin of %d kobo less %d is two numbers in the CSV file, also below cost", (price, cost, cells) => {
  const { rows } = marginReport([{ sums: [sums(price, cost)], accounts: 1, complete_until: null, next_cursor: null }]);
  expect(marginCsv(rows).split("\r\n")[1]).toContain(`,${cells},0,0.00`);
});
