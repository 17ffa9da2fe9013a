import { expect, test } from "vitest";
import type { ActionOutput } from "../../../../../shared/contract/actions/actions.ts";
import { openingOf, statementCsv } from "../../../../../shared/contract/reports/statement-csv.ts";

/** Goal: table, page and file of a statement open with the same balance, in however many pages it is summed up. */
type Page = ActionOutput<"wallet statement">;

const account_id = "acc_0123456789abcdef01";
/** Sums up what is before the period. */
const before = (closing: number): Page => ({
  account_id,
  opening: closing,
  closing,
  lines: [],
  next_cursor: String(closing),
});
const funding = (opening: number, next_cursor: string | null): Page => ({
  account_id,
  opening,
  closing: opening + 5,
  lines: [
    {
      ...{ at: "2026-11-20T23:00:00.000Z", local_time: "2026-11-21T00:00:00.000+01:00", kind: "funding", id: "GTB-1" },
      ...{ caller_reference: null, network: null, description: "", effect: 5, balance: opening + 5 },
    },
  ],
  next_cursor,
});

const balancesOf = async (pages: readonly Page[]): Promise<readonly string[]> => {
  const parts: string[] = [];
  for await (const part of statementCsv(pages, { from: "2026-11-01" })) parts.push(part);
  return parts
    .join("")
    .split("\r\n")
    .slice(1)
    .map((row) => row.split(","))
    .map((cells) => `${cells[2]} ${cells[3]} ${cells.at(-1)}`);
};

test("a statement opens with the balance before its first line, which its first pages may only sum up", async () => {
  const pages = [before(10), before(20), funding(20, "20"), funding(25, null)];
  expect(openingOf(pages)).toBe(20);
  expect(await balancesOf(pages)).toEqual([
    "2026-11-01 opening_balance 20.00",
    "2026-11-21T00:00:00.000+01:00 funding 25.00",
    "2026-11-21T00:00:00.000+01:00 funding 30.00",
    " closing_balance 30.00",
  ]);
});

test("a statement without lines opens and closes with what its last page has summed up", async () => {
  const pages = [before(10), { ...before(20), next_cursor: null }];
  expect(openingOf(pages)).toBe(20);
  expect(await balancesOf(pages)).toEqual(["2026-11-01 opening_balance 20.00", " closing_balance 20.00"]);
});

test("no opening balance is stated before it is summed up", () => {
  expect(openingOf([before(10)])).toBeUndefined();
});
