import { expect, test, vi } from "vitest";
import { floatRuns, PAYMENTS_PER_PAGE } from "../../../../shared/actions/float.ts";
import { DAY_MS } from "../../../../shared/contract/values/durations.ts";
import { actorName } from "../../../../shared/ledger/audit.ts";
import { encodeIndexKey } from "../../../../shared/ledger/query-index.ts";
import { walletPk } from "../../../../shared/ledger/schema.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { anActionContext } from "../../../builders/ledger/action-context.ts";
import { openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";

test("payments to the upstream that were written are listed newest first, page by page, those of a period by the days of the stage", async () => {
  const ledger = await openLedgerAtNoon();
  const context = anActionContext(ledger.tables, { clock: ledger.clock });
  const list = floatRuns["float payments"];
  vi.spyOn(context.ledger.db, "transactWrite").mockRejectedValueOnce(new Error("No answer"));
  const unwritten = { id: "gtb-0", amount_kobo: 100, why: "weekly" };
  await expect(floatRuns["float fund"](context, unwritten)).rejects.toThrow("No answer");
  expect(await list(context, {})).toEqual({ payments: [], next_cursor: null });

  const booked: { readonly id: string; readonly amount: number; readonly at: string; readonly by: string }[] = [];
  for (let number = 0; number <= PAYMENTS_PER_PAGE; number += 1) {
    ledger.nowMs += 1_000;
    const payment = { id: `gtb-${number}`, amount: number === 3 ? -500 : 2_000_000 };
    await floatRuns["float fund"](context, { id: payment.id, amount_kobo: payment.amount * 100, why: "weekly" });
    booked.unshift({ ...payment, at: isoTime(ledger.nowMs), by: actorName(context.actor()) });
  }
  const first = await list(context, {});
  expect(first.payments).toEqual(booked.slice(0, PAYMENTS_PER_PAGE));
  const rest = await list(context, { cursor: first.next_cursor ?? "" });
  expect(rest).toEqual({ payments: booked.slice(PAYMENTS_PER_PAGE), next_cursor: null });

  ledger.nowMs += DAY_MS;
  await floatRuns["float fund"](context, { id: "next-day", amount_kobo: 100, why: "weekly" });
  const day = isoTime(ledger.nowMs).slice(0, 10);
  expect(await list(context, { from: day, to: day })).toMatchObject({ payments: [{ id: "next-day", amount: 1 }] });

  const foreign = encodeIndexKey({ pk: walletPk("acc_1"), created_at: isoTime(ledger.nowMs) });
  await expect(list(context, { cursor: foreign })).rejects.toThrow("The cursor is not of this list");
});
