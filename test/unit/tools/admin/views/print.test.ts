import { expect, test } from "vitest";
import { fields, table } from "../../../../../tools/admin/views/print.ts";

test("a table has columns two spaces apart: numbers to the right, all else to the left, without spaces at the end", () => {
  const rows = [
    ["ọjà", "1,250.00", 5],
    ["店店店店", "-3.50", "soon"],
    ["airtime", 7],
  ];
  expect(table(["name", "amount", "wait"], rows).split("\n")).toEqual([
    "NAME        AMOUNT  WAIT",
    "ọjà       1,250.00  5",
    "店店店店     -3.50  soon",
    "airtime          7  -",
  ]);
});

test("a record has a line for each field, and an empty value is a hyphen", () => {
  expect(fields({ name: "shop", note: null, balance: "5.00" })).toBe("name     shop\nnote     -\nbalance  5.00");
});
