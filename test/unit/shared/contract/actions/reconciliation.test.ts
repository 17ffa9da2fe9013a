import { expect, test } from "vitest";
import { reconciliationActions } from "../../../../../shared/contract/actions/reconciliation.ts";

test("a request stores at most 2000 rows of a statement: they are one item of a table", () => {
  const row = { line: 1, status: "success", amount_kobo: 100, at: "2026-11-21T09:30:00.000Z" };
  const { input } = reconciliationActions["reconciliation files append"];
  const problemOf = (rows: number): string | undefined =>
    input
      .safeParse({ day: "2026-11-21", file: "0".repeat(64), offset: 0, is_last: true, rows: Array(rows).fill(row) })
      .error?.issues.map(({ code, path }) => `${code} ${path.join(".")}`)
      .join();
  expect([problemOf(2_000), problemOf(2_001), problemOf(0)]).toEqual([undefined, "too_big rows", "too_small rows"]);
});
