import { expect, test } from "vitest";
import { adjustWallet } from "../../../../shared/ledger/ledger-entry.ts";
import { settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import { readStatement } from "../../../../shared/ledger/statement.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { resolveTransaction } from "../../../../shared/upstream-events/operator-resolution.ts";
import { NOON_MS } from "../../../builders/noon.ts";
import { decision, openOperatorLedger } from "../../../builders/operator-ledger.ts";

test("a statement lists entries and transactions by time, opens with the sum before its range, and closes with the balance", async () => {
  const operator = await openOperatorLedger();
  const { accountId, balance } = await operator.anAccount();
  const [bought, failed] = [await operator.openFor(accountId), await operator.openFor(accountId)];
  await settleTransaction(operator.ledgerAt(), bought, { status: "success" }, deadlineIn(9_000));
  await resolveTransaction(operator.ledgerAt(), failed, "failed", decision);
  const adjustment = { accountId, adjustmentId: "case-1", amount_kobo: 50_00, why: "ticket 88" };
  await adjustWallet(operator.ledgerAt(), adjustment);
  const statement = await readStatement(operator.ledgerAt(), accountId, { from: "0000", to: "9999" });
  const lines = statement.lines.map(({ kind, status, effect_kobo }) => [kind, status, effect_kobo]);
  expect(lines.slice(1, 3)).toEqual(
    expect.arrayContaining([
      ["data", "failed", 0],
      ["data", "success", -500_00],
    ]),
  );
  expect([lines[0], lines[3]]).toEqual([
    ["funding", "booked", 1_000_00],
    ["adjustment", "booked", 50_00],
  ]);
  expect(statement).toMatchObject({ opening_kobo: 0, closing_kobo: 550_00 });
  expect(await balance()).toBe(550);

  const later = await readStatement(operator.ledgerAt(), accountId, { from: isoTime(NOON_MS), to: "9999" });
  expect(later).toMatchObject({ opening_kobo: 500_00, closing_kobo: 550_00, lines: [{ kind: "adjustment" }] });
});
