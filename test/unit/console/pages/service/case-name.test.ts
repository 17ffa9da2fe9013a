import { expect, test } from "vitest";
import { caseName } from "../../../../../console/pages/service/case-name.ts";

const side = { amount_kobo: 500_00, status: "success", at: "2026-11-20T10:00:00.000Z" } as const;
const order = { ...side, reference: "DATA_1", type: "data", is_due: true } as const;
const row = { ...side, id: "c2hhMjU2", file: 1, line: 12 };

test.each([
  [{ order }, "DATA_1"],
  [{ order: { ...order, upstream_reference: "UP-9" } }, "DATA_1, UP-9"],
  [{ order, row }, "DATA_1, file 2, line 12"],
  [{ row: { ...row, upstream_reference: "UP-9" } }, "UP-9, file 2, line 12"],
  [{ row: { ...row, reference: "DATA_2", upstream_reference: "UP-9" } }, "DATA_2, UP-9, file 2, line 12"],
  [{ row }, "file 2, line 12"],
  [{}, "clock_differs"],
])("a case with %j is called %j", (sides, name) => {
  expect(caseName({ case: "clock_differs", ...sides })).toBe(name);
});
