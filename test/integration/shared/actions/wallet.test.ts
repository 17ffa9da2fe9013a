import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { sealCursor } from "../../../../shared/actions/cursor.ts";
import { transactionsRuns } from "../../../../shared/actions/transactions.ts";
import { assertUnusedId, walletRuns } from "../../../../shared/actions/wallet.ts";
import { STATEMENT_LINES_MAX } from "../../../../shared/contract/actions/wallet.ts";
import { correctedBy } from "../../../../shared/contract/corrections.ts";
import { type Kobo, koboFromNaira } from "../../../../shared/contract/values/money.ts";
import { readAudit } from "../../../../shared/ledger/audit.ts";
import { readAdjustment, recordEntry } from "../../../../shared/ledger/ledger-entry.ts";
import { encodePageCursor } from "../../../../shared/ledger/page-cursor.ts";
import { walletPk } from "../../../../shared/ledger/schema.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { NotFoundError, OperatorError } from "../../../../shared/platform/operator-error.ts";
import { pagesOf } from "../../../../shared/platform/pages.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { enqueueOrder } from "../../../../shared/queued-orders/queue-store.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { anActionContext } from "../../../builders/ledger/action-context.ts";
import { openOperatorLedger } from "../../../builders/ledger/operator-ledger.ts";
import { putTransactions } from "../../../builders/ledger/put-transactions.ts";
import { readStatement } from "../../../builders/ledger/statement.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

const operator = await openOperatorLedger();

const context = (nowMs = NOON_MS) => anActionContext(operator.tables, { clock: () => nowMs });

describe("wallet fund and wallet adjust", () => {
  test("credit once per id, answer a retry with what is recorded, and leave one audit entry", async () => {
    const { accountId: account, balance } = await operator.anAccount();
    const funding = { account, amount_kobo: 250_050, id: randomUUID(), why: "transfer" };
    const first = await walletRuns["wallet fund"](context(), funding);
    expect(first).toEqual({ account_id: account, id: funding.id, amount: 2_500.5, repeated: false, balance: 3_500.5 });
    expect(await walletRuns["wallet fund"](context(), funding)).toEqual({ ...first, repeated: true });
    const correction = { account, amount_kobo: -50_00, id: randomUUID(), why: "refunded twice" };
    for (const repeated of [false, true]) {
      const adjusted = await walletRuns["wallet adjust"](context(NOON_MS + 1), correction);
      expect(adjusted).toMatchObject({ amount: -50, repeated, balance: 3_450.5 });
    }
    expect(await balance()).toBe(3_450.5);
    const audit = await readAudit(operator.ledgerAt(), account);
    expect(audit.map(({ by, action, details, why }) => [by, action, details, why])).toEqual([
      ["ada", "wallet fund", { id: funding.id, amount: 2_500.5 }, "transfer"],
      ["ada", "wallet adjust", { id: correction.id, amount: -50 }, "refunded twice"],
    ]);
  });

  test("of a wrong funding is reversed whole by an adjustment that names it, once, in its own account only, and never below 0", async () => {
    const { accountId: account, balance } = await operator.anAccount();
    const other = await operator.anAccount();
    const id = `GTB-${randomUUID()}`;
    await walletRuns["wallet fund"](context(), { account, amount_kobo: 250_000_00, id });
    const reverse = (of: string, fundingId: string) =>
      walletRuns["wallet reverse"](context(NOON_MS + 1), { account: of, id: fundingId, why: "ticket 12" });
    for (const [of, none] of [
      [other.accountId, id],
      [account, "GTB-none"],
    ] as const) {
      await expect(reverse(of, none)).rejects.toThrow(`There is no funding ${none} of account ${of}`);
    }
    const results = await Promise.all([reverse(account, id), reverse(account, id.toLowerCase())]);
    expect(results).toMatchObject([
      { id: `reversal of ${id}`, amount: -250_000, balance: 1_000 },
      { id: `reversal of ${id}`, amount: -250_000, balance: 1_000 },
    ]);
    expect(results.map(({ repeated }) => repeated).toSorted()).toEqual([false, true]);
    expect(correctedBy(results[0].id)).toEqual({ kind: "funding", id });
    expect((await readAudit(operator.ledgerAt(), account)).slice(1)).toMatchObject([
      { action: "wallet reverse", why: "ticket 12", details: { id, amount: -250_000 } },
    ]);
    for (const of of [account, other.accountId]) {
      const again = walletRuns["wallet fund"](context(), { account: of, amount_kobo: 250_000_00, id });
      await expect(again).rejects.toThrow(/, and reversed at [^ ]+\. Credit it again with the id GTB-[^ ]+-again$/);
    }
    await walletRuns["wallet adjust"](context(), { account, amount_kobo: -500_00, id: "case-1", why: "spent" });
    await expect(reverse(account, `first-${account}`)).rejects.toThrow("must not become negative");
    expect(await balance()).toBe(500);
  });

  test("are refused below a balance of 0, and under an id of another amount or account, in sentences without commands", async () => {
    const { accountId: account, balance } = await operator.anAccount();
    const other = await operator.anAccount();
    const id = randomUUID();
    await walletRuns["wallet fund"](context(), { account, amount_kobo: 100_00, id });
    const refused = [
      walletRuns["wallet adjust"](context(), { account, amount_kobo: -1_100_01, id: "case-2", why: "ticket" }),
      walletRuns["wallet fund"](context(), { account, amount_kobo: 200_00, id }),
      walletRuns["wallet fund"](context(), { account: other.accountId, amount_kobo: 100_00, id }),
    ];
    const errors = (await Promise.allSettled(refused)).map((each) => (each.status === "rejected" ? each.reason : each));
    for (const error of errors) expect(error).toBeInstanceOf(OperatorError);
    const sentences = errors.map((error) => (error instanceof OperatorError ? error.sentence : ""));
    expect(sentences[0]).toContain("is NGN 1,100.00 and must not become negative");
    expect(`${errors[1]}`).toContain(`If that is wrong: wallet reverse ${account} --id ${id}`);
    expect(sentences[1]).toMatch(/was recorded already, with NGN 100\.00 at [^ ]+$/);
    expect(sentences[2]).toMatch(/was credited to account acc_[0-9a-f]+ already, with NGN 100\.00 at [^ ]+$/);
    expect([await balance(), await other.balance()]).toEqual([1_100, 1_000]);
  });

  test("that were made before the stage's bound was lowered are not refused when their answer was lost, but named as made", async () => {
    const { accountId: account, balance } = await operator.anAccount();
    const entry = { account, amount_kobo: 500_00, id: randomUUID(), why: "transfer" };
    const book = async (operatorActMax: Kobo) => [
      await walletRuns["wallet fund"]({ ...context(), operatorActMax }, entry),
      await walletRuns["wallet adjust"]({ ...context(), operatorActMax }, entry),
    ];
    expect(await book(koboFromNaira(500))).toMatchObject([{ repeated: false }, { repeated: false }]);
    expect(await book(koboFromNaira(499))).toMatchObject([{ repeated: true }, { repeated: true }]);
    expect(await balance()).toBe(2_000);
    // The adjustment has the funding's id: what reverses the one is no reversal of the other.
    await walletRuns["wallet reverse"](context(), { account, id: entry.id, why: "wrong account" });
    expect(await walletRuns["wallet adjust"](context(), entry)).toMatchObject({ repeated: true });
  });

  test("that correct another record are of its whole amount: above the bound no smaller ones are proposed", async () => {
    const { accountId: account } = await operator.anAccount();
    const funding = { account, amount_kobo: 500_00, id: randomUUID(), why: "transfer" };
    await walletRuns["wallet fund"](context(), funding);
    const lowered = { ...context(), operatorActMax: koboFromNaira(499) };
    const reversal = walletRuns["wallet reverse"](lowered, { account, id: funding.id, why: "wrong account" });
    await expect(reversal).rejects.toThrow(/by a reviewed deployment$/);
    await walletRuns["wallet reverse"](context(), { account, id: funding.id, why: "wrong account" });
    const booked = await readAdjustment(operator.ledgerAt(), account, `reversal of ${funding.id}`);
    await expect(assertUnusedId(operator.ledgerAt(), booked, account)).rejects.toThrow(/with -NGN 500\.00 at [^ ]+$/);
    const other = walletRuns["wallet fund"](lowered, { ...funding, id: randomUUID() });
    await expect(other).rejects.toThrow(/make several entries/);
  });

  test("above the stage's bound are refused in both directions and leave no trace, and up to it are made", async () => {
    const { accountId: account, balance } = await operator.anAccount();
    const bound = context().operatorActMax;
    const entry = (amount_kobo: number, id: string) => ({ account, amount_kobo, id, why: "transfer" });
    for (const [action, refused] of [
      ["wallet fund", entry(bound + 1, "above")],
      ["wallet adjust", entry(bound + 1, "above")],
      ["wallet adjust", entry(-bound - 1, "below")],
    ] as const) {
      await expect(walletRuns[action](context(), refused)).rejects.toThrow(
        /^At most NGN 1,000,000\.00 at once: raise operatorActMaxNaira/,
      );
    }
    expect(await balance()).toBe(1_000);
    expect(await readAudit(operator.ledgerAt(), account)).toEqual([]);
    await walletRuns["wallet fund"](context(), entry(bound, "up to it"));
    expect(await walletRuns["wallet adjust"](context(), entry(-bound, "back"))).toMatchObject({ balance: 1_000 });
  });

  test("named as a payout or as an order that was delivered take an amount and give none, which the journal would not post as a gift", async () => {
    const { accountId: account, balance } = await operator.anAccount();
    for (const id of ["payout-GTB-1", "delivered-DATA_OF_NO_ORDER"]) {
      const entry = { account, amount_kobo: 100_00, id, why: "gift" };
      await expect(walletRuns["wallet adjust"](context(), entry)).rejects.toThrow(
        `${id} takes an amount and gives none`,
      );
      await walletRuns["wallet adjust"](context(), { ...entry, amount_kobo: -100_00 });
    }
    expect(await balance()).toBe(800);
  });

  test("an unknown account is not found", async () => {
    const unknown = { account: "acc_unknown", amount_kobo: 1, id: "x", why: "test" };
    await expect(walletRuns["wallet fund"](context(), unknown)).rejects.toThrow(NotFoundError);
    await expect(walletRuns["wallet show"](context(), unknown)).rejects.toThrow(/There is no account acc_unknown/);
  });
});

test("wallet show counts the account's own orders that wait, in its queue or set aside, as transactions waiting does", async () => {
  const ledger = operator.ledgerAt();
  const wait = async (account: string, refusals?: number) => {
    const order = await operator.openFor(account, { amount_kobo: koboFromNaira(100) });
    await enqueueOrder(ledger, { ...order, refusals }, { kind: "airtime", network: "mtn" }, deadlineIn(9_000));
  };
  const [{ accountId: account }, { accountId: other }] = [await operator.anAccount(), await operator.anAccount()];
  await wait(account);
  await wait(account, 1);
  await wait(other, 1);
  await wait(other, 1);
  await wait(other, 1);
  for (const [id, number] of [
    [account, 2],
    [other, 3],
  ] as const) {
    expect(await walletRuns["wallet show"](context(), { account: id })).toMatchObject({ queued_orders: number });
    expect(await transactionsRuns["transactions waiting"](context(), { account: id })).toMatchObject({ number });
  }
});

test("wallet threshold sets a threshold that wallet show tells, 0 removes it, and one that another person set stays", async () => {
  const { accountId: account } = await operator.anAccount();
  await walletRuns["wallet threshold"](context(), { account, amount_kobo: 5_000_50 });
  expect(await walletRuns["wallet show"](context(), { account })).toMatchObject({
    account_id: account,
    balance: 1_000,
    low_balance_threshold: 5_000.5,
    queued_orders: 0,
  });
  for (const before_kobo of [0, 5_000_00]) {
    const stale = walletRuns["wallet threshold"](context(), { account, amount_kobo: 0, before_kobo });
    await expect(stale).rejects.toThrow("Another person has changed the threshold");
  }
  // The second time as if the answer had been lost.
  for (const nowMs of [NOON_MS + 1, NOON_MS + 2]) {
    const input = { account, amount_kobo: 0, before_kobo: 5_000_50, why: "not needed" };
    const removed = await walletRuns["wallet threshold"](context(nowMs), input);
    expect(removed).toEqual({ account_id: account, low_balance_threshold: null });
  }
  expect(await readAudit(operator.ledgerAt(), account)).toMatchObject([
    { action: "wallet threshold", details: { amount: 5_000.5 } },
    { action: "wallet threshold", details: { amount: 0 }, why: "not needed" },
  ]);
});

test("wallet verify says whether a balance equals its entries", async () => {
  const { accountId: account } = await operator.anAccount();
  expect(await walletRuns["wallet verify"](context(), { account })).toEqual({
    account_id: account,
    ok: true,
    balance: 1_000,
    expected: 1_000,
    difference: 0,
  });
  await changeItem(operator.ledgerAt(), walletPk(account), { balance_kobo: 1_500_00 });
  const wrong = await walletRuns["wallet verify"](context(), { account });
  expect(wrong).toMatchObject({ ok: false, balance: 1_500, expected: 1_000, difference: 500 });
});

describe("wallet statement", () => {
  const statementPages = (account: string, period: { readonly from?: string; readonly to?: string } = {}) =>
    Array.fromAsync(pagesOf((cursor) => walletRuns["wallet statement"](context(), { account, ...period, cursor })));

  const timeOf = (index: number): string => isoTime(NOON_MS - 86_400_000 + index * 1_000);

  test("has the lines of all pages once, in the order and with the balances of the whole statement", async () => {
    const { accountId: account } = await operator.anAccount();
    await putTransactions(operator.ledgerAt(), account, 740, timeOf);
    for (const index of [0, 3, 700]) {
      const entry = {
        kind: "adjustment",
        account_id: account,
        entry_id: `case-${index}`,
        amount_kobo: 300_000_00,
      } as const;
      await recordEntry(operator.ledgerAt(Date.parse(timeOf(index))), entry);
    }
    const whole = await readStatement(operator.ledgerAt(), account, { from: "0000", to: "9999" });
    const pages = await statementPages(account);
    expect(pages.map(({ lines }) => lines.length)).toEqual([STATEMENT_LINES_MAX - 1, 245]);
    expect(pages.flatMap(({ lines }) => lines).map(({ id, effect, balance }) => [id, effect, balance])).toEqual(
      whole.lines.map(({ id, effect_kobo, balance_after_kobo }) => [id, effect_kobo / 100, balance_after_kobo / 100]),
    );
    expect(pages.map(({ opening }) => opening)).toEqual([0, ...pages.slice(0, -1).map(({ closing }) => closing)]);
    expect(pages.at(-1)?.closing).toBe(whole.closing_kobo / 100);
  });

  test("refuses a cursor of another kind or beyond its period, and a period that ends before it begins", async () => {
    const { accountId: account } = await operator.anAccount();
    const read = (period: object) => walletRuns["wallet statement"](context(), { account, ...period });
    const late = {
      entry: { pk: "funding#1", created_at: isoTime(NOON_MS) },
      after: "0000",
      balance_after_kobo: 5,
      version: 1,
    };
    const sealed = (position: object) => sealCursor(context(), ["wallet statement", account], position);
    await expect(read({ cursor: "x" })).rejects.toThrow("The cursor is not of this statement");
    const empty = { entry: { pk: "", created_at: isoTime(NOON_MS) }, after: "0000", balance_after_kobo: 5, version: 1 };
    await expect(read({ cursor: encodePageCursor(late) })).rejects.toThrow("not of this statement");
    await expect(read({ cursor: await sealed(empty) })).rejects.toThrow("not of this statement");
    expect(await read({ cursor: await sealed(late) })).toMatchObject({ opening: 0.05 });
    await expect(read({ cursor: await sealed(late), to: "2026-11-20" })).rejects.toThrow("not of this statement");
    await expect(read({ from: "2026-11-21", to: "2026-11-20" })).rejects.toThrow("ends before it begins");
  });

  test("refuses a cursor whose balance was changed, and another account's", async () => {
    const { accountId: account } = await operator.anAccount();
    const { accountId: other } = await operator.anAccount();
    const read = (cursor: string | null) => walletRuns["wallet statement"](context(), { account, cursor: `${cursor}` });
    const position = { balance_after_kobo: 999_999_900 };
    const forged = Buffer.from(JSON.stringify({ position, mac: "x" })).toString("base64url");
    for (const cursor of [
      encodePageCursor(position),
      forged,
      await sealCursor(context(), ["wallet statement", other], position),
    ]) {
      await expect(read(cursor)).rejects.toThrow("not of this statement");
    }
  });
});

test("wallet low lists the wallets below their thresholds, the lowest first", async () => {
  const [little, less, enough] = [await operator.anAccount(), await operator.anAccount(), await operator.anAccount()];
  for (const [{ accountId: account }, naira] of [
    [little, 1_100],
    [less, 5_000],
    [enough, 1_000],
  ] as const) {
    await walletRuns["wallet threshold"](context(), { account, amount_kobo: naira * 100 });
  }
  const { wallets } = await walletRuns["wallet low"](context(), {});
  const own = wallets.filter(({ account_id }) =>
    [little, less, enough].some(({ accountId }) => accountId === account_id),
  );
  expect(own).toEqual([
    { account_id: less.accountId, balance: 1_000, low_balance_threshold: 5_000 },
    { account_id: little.accountId, balance: 1_000, low_balance_threshold: 1_100 },
  ]);
});
