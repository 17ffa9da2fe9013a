import { expect, test } from "vitest";
import { marginCsv, marginReport } from "../../../../../shared/contract/reports/margin-report.ts";

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

test("rows are in the order of their groups: a name before a longer one that begins with it, and checks last", () => {
  const of = (day: string, network: string | null) => ({ ...sums(500_00, 480_00), day, network });
  const first = [of("2026-11-21", null), of("2026-11-21", "MTN SME"), of("2026-11-20", "Airtel")];
  const page = { accounts: 1, complete_until: null, next_cursor: null };
  const { rows } = marginReport([
    { sums: first, ...page },
    { sums: [of("2026-11-21", "MTN"), of("2026-11-21", null)], ...page },
  ]);
  expect(rows.map(({ day, network, orders }) => [day, network, orders])).toEqual([
    ["2026-11-20", "Airtel", 1],
    ["2026-11-21", "MTN", 1],
    ["2026-11-21", "MTN SME", 1],
    ["2026-11-21", null, 2],
  ]);
});
