import { beforeEach, expect, test } from "vitest";
import { auditEntry, auditPut, SERVICE } from "../../../../../shared/ledger/audit.ts";
import type { AuditedLedger } from "../../../../../shared/ledger/ledger.ts";
import { readFloat, recordPayment } from "../../../../../shared/margin/float.ts";
import type { WithSdk } from "../../../../../shared/platform/aws/sdk.ts";
import { OperatorError } from "../../../../../shared/platform/operator-error.ts";
import { balanceChangeProjection } from "../../../../../tools/admin/carry-over/balance-change.ts";
import { carryItems } from "../../../../../tools/admin/carry-over/items.ts";
import { recomputePayments } from "../../../../../tools/admin/carry-over/payments.ts";
import { type Item, scanTable } from "../../../../../tools/admin/table-scan.ts";
import { copyTable } from "../../../../builders/dynamodb/copy-table.ts";
import { openLedgerAtNoon } from "../../../../builders/ledger/ledger-at-noon.ts";
import { NOON_MS } from "../../../../builders/run/noon.ts";

/** Goal: after a carry-over the float has each payment to the upstream once, in whichever ledger it was booked. */
let old: AuditedLedger & WithSdk;
let restored: AuditedLedger & WithSdk;
beforeEach(async () => {
  old = await openLedgerAtNoon();
});

const pay = (ledger: AuditedLedger, paymentId: string, amountKobo: number) => {
  const entry = auditEntry({ audit_log: SERVICE, by: "ada", action: "float fund" }, NOON_MS);
  return recordPayment(ledger, { paymentId, amountKobo, by: "ada" }, auditPut(ledger, entry));
};
const restore = async (): Promise<void> => {
  restored = { ...old, table: await copyTable(old.db, "ledger", old.table) };
};
const logProgress = (): void => {};
const carryOver = async (before = async (): Promise<unknown> => undefined): Promise<number | undefined> => {
  await carryItems({ db: old.db, from: old.table, to: restored.table }, { isDryRun: false, logProgress });
  const payments = await recomputePayments(restored);
  const onPage = async (items: readonly Item[]) => items.forEach(payments.add);
  await scanTable(restored.db, restored.table, { onPage, logProgress, projection: balanceChangeProjection });
  await before();
  await payments.write();
  return (await readFloat(restored)).paymentsKobo;
};

test("the float has the payments of both ledgers since the moment, also those that lowered it, however often it is carried over", async () => {
  await pay(old, "before", 20_000_00);
  await restore();
  await pay(old, "correction", -18_000_00);
  await pay(restored, "after", 500_00);
  expect(await carryOver()).toBe(2_500_00);
  expect(await carryOver()).toBe(2_500_00);
});

test("a ledger that is restored to a moment before the first payment has it afterwards, and one without any has no sum", async () => {
  await restore();
  expect(await carryOver()).toBeUndefined();
  await pay(old, "first", 100_00);
  expect(await carryOver()).toBe(100_00);
});

test("a payment that is booked during the carry-over stays in the sum, and the command fails and asks to be run again", async () => {
  await restore();
  await pay(old, "first", 100_00);
  const error: unknown = await carryOver(() => pay(restored, "second", 50_00)).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ message: expect.stringContaining("run it again") });
  // What is refused has changed nothing, and this has copied items.
  expect(error).not.toBeInstanceOf(OperatorError);
  expect(await carryOver()).toBe(150_00);
});
