import { beforeEach, expect, test, vi } from "vitest";
import { createAccount } from "../../../../shared/access/accounts.ts";
import { DAY_MS } from "../../../../shared/contract/values/durations.ts";
import { adjustWallet } from "../../../../shared/ledger/ledger-entry.ts";
import { adjustmentPk, PERIOD_VERIFICATION_PK, periodPk } from "../../../../shared/ledger/schema.ts";
import { verifyPeriods } from "../../../../shared/periods/verify-periods.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { RUN_RESERVE_MS } from "../../../../shared/platform/time-budgets.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { freshTables } from "../../../builders/dynamodb/tables.ts";
import { anActionContext, type TestContext } from "../../../builders/ledger/action-context.ts";
import { closeMonth } from "../../../builders/ledger/close-month.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";

/** Goal: a change of a closed month is noticed by itself. Method: three closed months, and a clock that the tests move. */
const MONTHS = ["2026-08", "2026-09", "2026-10"];
let context: TestContext;
let first: string;
let account: string;
let nowMs = 0;
const anAccount = async (): Promise<string> => {
  nowMs += 1;
  return (await createAccount(context.accounts, { name: "test", whitelist: [] })).account_id;
};
beforeEach(async () => {
  nowMs = Date.parse("2026-08-05T12:00:00.000Z");
  context = anActionContext(await freshTables(), { clock: () => nowMs });
  first = await anAccount();
  account = await anAccount();
  for (const month of MONTHS) {
    nowMs = Date.parse(`${month}-05T12:00:00.000Z`);
    const line = { adjustmentId: month, amount_kobo: 100, why: "test" };
    for (const accountId of [first, account]) await adjustWallet(context.ledger, { accountId, ...line });
  }
  nowMs = Date.parse("2026-11-03T12:00:00.000Z");
  for (const month of MONTHS) await closeMonth(context, month, () => {});
  // It has no closed month.
  await anAccount();
});

const changeLineOf = (month: string, of = account) =>
  changeItem(context.ledger, adjustmentPk(of, month), { amount_kobo: 99 });

const verify = () => verifyPeriods(context.ledger, deadlineIn(60_000, context.ledger.clock));

test("each day the last closed month is verified, and one of the earlier ones in turn", async () => {
  const log = captureLog();
  expect(await verify()).toBe(2);
  expect(await verify()).toBe(0);
  expect(log.lines()).toEqual([]);
  for (const month of MONTHS) await changeLineOf(month);
  for (let day = 0; day < 2; day += 1) {
    nowMs += DAY_MS;
    await verify();
  }
  const found = log.lines("period.differs").map(({ month }) => month);
  expect(found.toSorted()).toEqual([...MONTHS, "2026-10"]);
});

test("a service without a closed month looks for one once a day", async () => {
  const { ledger } = anActionContext(await freshTables(), { clock: () => nowMs });
  const queries = vi.spyOn(ledger.db, "query");
  for (const afterMs of [0, DAY_MS - 1, 1]) {
    nowMs += afterMs;
    expect(await verifyPeriods(ledger, deadlineIn(60_000, ledger.clock))).toBe(0);
  }
  expect(queries).toHaveBeenCalledTimes(2);
});

test("a month that is closed between two rounds changes no turn: each earlier month is verified before one has a second turn", async () => {
  const log = captureLog();
  for (const month of MONTHS) await changeLineOf(month);
  const verifiedOn = async (date: string): Promise<readonly unknown[]> => {
    nowMs = Date.parse(`${date}T12:00:00.000Z`);
    const before = log.lines("period.differs").length;
    await verify();
    return log
      .lines("period.differs")
      .slice(before)
      .map(({ month }) => month);
  };
  expect(await verifiedOn("2026-12-02")).toEqual(["2026-10", "2026-09"]);
  await closeMonth(context, "2026-11", () => {});
  expect(await verifiedOn("2026-12-03")).toEqual(["2026-08"]);
  expect(await verifiedOn("2026-12-04")).toEqual(["2026-10"]);
  expect(await verifiedOn("2026-12-05")).toEqual(["2026-09"]);
});

test("a verification that is out of time is continued by the next run, and finds what differs behind, also in the next month", async () => {
  await changeLineOf("2026-10");
  for (const month of ["2026-08", "2026-09"]) await changeLineOf(month, first);
  const log = captureLog();
  // Time for one account.
  const oneStep = () => ({ remainingMs: vi.fn(() => RUN_RESERVE_MS).mockReturnValueOnce(60_000) });
  let verified = 0;
  let runs = 0;
  for (; verified < 2 && runs < 20; runs += 1) verified += await verifyPeriods(context.ledger, oneStep());
  expect(runs).toBeGreaterThan(3);
  expect(log.lines("period.differs")).toMatchObject([
    { month: "2026-10", account, differences: 1 },
    { month: expect.stringMatching(/^2026-0[89]$/), account: first, differences: 1 },
  ]);
});

const BEGUN = ["2026-10"];
test.each([
  ["a call that AWS did not answer delays it", "TimeoutError", BEGUN, 2 * DAY_MS, "period.verification_delayed"],
  ["one that AWS refuses is an alarm", "AccessDeniedException", BEGUN, 0, "period.not_verified"],
  ["one that lasts for two days is an alarm", "TimeoutError", BEGUN, 3 * DAY_MS, "period.not_verified"],
  ["one that keeps a round from its begin is an alarm", "TimeoutError", [], 3 * DAY_MS, "period.not_verified"],
])("of the daily verification, %s", async (_what, name, months, afterMs, event) => {
  const { db, table } = context.ledger;
  const begun = { pk: PERIOD_VERIFICATION_PK, begun_at: new Date(nowMs).toISOString(), months };
  await db.put({ TableName: table, Item: begun });
  nowMs += afterMs;
  const send = db.send.bind(db);
  vi.spyOn(db, "send").mockImplementation((command) =>
    JSON.stringify(command.input).includes("period#2026-10")
      ? Promise.reject(Object.assign(new Error("no"), { name }))
      : send(command),
  );
  const log = captureLog();
  expect(await verify()).toBe(0);
  expect(log.lines()).toMatchObject([{ event, error: name }]);
  vi.restoreAllMocks();
  expect(await verify()).toBe(months.length === 0 ? 2 : 1);
});

test("a closed month that the ledger lacks when it is verified is an alarm", async () => {
  const { db, table } = context.ledger;
  const begun = { pk: PERIOD_VERIFICATION_PK, begun_at: new Date(nowMs).toISOString(), months: BEGUN };
  await db.put({ TableName: table, Item: begun });
  await db.delete({ TableName: table, Key: { pk: periodPk("2026-10") } });
  const log = captureLog();
  expect(await verify()).toBe(1);
  expect(log.lines()).toMatchObject([{ event: "period.differs", month: "2026-10", differences: 1 }]);
});
