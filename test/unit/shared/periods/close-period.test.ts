import { expect, test } from "vitest";
import { openFields, serviceSums } from "../../../../shared/periods/close-period.ts";
import { hashOf } from "../../../../shared/periods/fold-lines.ts";
import { aTransaction, newTransactionPk } from "../../../builders/ledger/transaction.ts";

const ZONE = "Africa/Lagos";

test("the hash of a month is over those of its accounts in the order of their ids, whatever order they were created in", () => {
  const [from, to] = ["2026-09-30T23:00:00.000Z", "2026-10-31T22:59:59.999Z"];
  const month = { month: "2026-10", time_zone: ZONE, from, to, previous: "before" };
  const sums = { version: 0, opening_kobo: 0, closing_kobo: 0, lines: 0, open_orders: 0, kinds: {} };
  const times = { created_at: to, closed_at: to };
  const periodOf = (account_id: string) => ({
    ...{ ...month, ...sums, ...times, account_id, hash: `of ${account_id}` },
    ...{ pk: account_id, list_key: "periods" },
  });
  const hashes = ["acc_1", "acc_2", "acc_3"].map((accountId) => [accountId, `of ${accountId}`]);
  expect(serviceSums(month, ["acc_2", "acc_3", "acc_1"].map(periodOf)).hash).toBe(
    hashOf("before", ["2026-10", ZONE, from, to, hashes]),
  );
});

test("an account with more open orders than an item can have costs of is not closed", () => {
  const created_at = "2026-10-31T12:00:00.000Z";
  const month = { month: "2026-10", time_zone: ZONE, from: "2026-09-30T23:00:00.000Z", to: created_at, previous: "" };
  const open = Array.from({ length: 10_001 }, () => aTransaction({ pk: newTransactionPk(), created_at }));
  const { open_costs = {} } = openFields(month, open.slice(1), undefined);
  expect(Object.keys(open_costs)).toHaveLength(10_000);
  expect(() => openFields(month, open, undefined)).toThrow(
    /has 10001 orders that are open, .* at most 10000 of an account: .*"Stuck purchase"/,
  );
  // One of the first moment of the month is in its file, and those from before the first closed month are in none.
  const first = openFields({ ...month, from: created_at }, open.slice(0, 1), undefined);
  expect(Object.keys(first.open_costs ?? {})).toHaveLength(1);
  expect(openFields({ ...month, from: "2026-10-31T13:00:00.000Z" }, open, undefined)).toEqual({ open_orders: 10_001 });
});
