import { afterEach, expect, test, vi } from "vitest";
import { noteEmptyCheck } from "../../../../shared/identity/empty-checks.ts";
import { walletPk } from "../../../../shared/ledger/schema.ts";
import { emptyRunStart, readWallet } from "../../../../shared/ledger/wallet.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { identityServiceForTests, refusal, VERIFY_NIN } from "../../../builders/service/identity-service.ts";
import type { TestCaller } from "../../../builders/service/service.ts";
import { aNinCheck } from "../../../builders/upstream/identity.ts";

/** Goal: a caller that guesses numbers, which costs nothing, raises an alarm with the eighth one that nobody has. */
const service = await identityServiceForTests();
afterEach(() => {
  vi.restoreAllMocks();
});

const NOBODY = 404;
const SOMEBODY = 200;
const NO_ANSWER = 502;

/** Checks in this order; resolves with what the alarm says of each. */
const checkInTurn = async (caller: TestCaller, statuses: readonly number[], mode: "live" | "test" = "live") => {
  // The requests of one key are limited; the run is the account's.
  let key = await caller.newKey({ mode });
  const log = captureLog();
  for (const [index, status] of statuses.entries()) {
    if (index % 10 === 9) key = await caller.newKey({ mode });
    service.calmDown();
    const nin = mode === "test" && status === NOBODY ? "00000000001" : "12345678900";
    if (mode === "live" && status === NOBODY) {
      service.simulator.state.faults.add(refusal(404, "No record was found."));
    }
    if (status === NO_ANSWER) service.simulator.state.faults.add(refusal(500, "Try again."));
    const answer = await service.call("POST", VERIFY_NIN, { key, body: aNinCheck({ nin }) });
    expect(answer.status).toBe(status);
  }
  return log.lines("identity.empty_checks").map(({ account, in_a_row }) => [account, in_a_row]);
};
const times = (count: number, status: number) => Array.from({ length: count }, () => status);

test("the eighth check in a row that finds nobody raises an alarm, and so does each further one", async () => {
  const caller = await service.newCaller();
  expect(await checkInTurn(caller, times(7, NOBODY))).toEqual([]);
  expect(await checkInTurn(caller, times(2, NOBODY))).toEqual([
    [caller.accountId, 8],
    [caller.accountId, 9],
  ]);
  expect(await caller.balance()).toBe(10_000);
});

test("a check that finds a person ends the run, and costs no write for it", async () => {
  const caller = await service.newCaller();
  const run = [...times(7, NOBODY), SOMEBODY];
  expect(await checkInTurn(caller, [...run, ...run, ...times(7, NOBODY)])).toEqual([]);
  service.proxy.calls.length = 0;
  await checkInTurn(caller, [SOMEBODY]);
  expect(service.proxy.calls.map(({ operation }) => operation)).toEqual([
    "UpdateItem",
    "TransactWriteItems",
    "UpdateItem",
  ]);
  expect(await checkInTurn(caller, times(8, NOBODY))).toEqual([[caller.accountId, 8]]);
});

test("eight checks at once that find nobody raise an alarm: all are debited before the first is answered", async () => {
  const { ledger } = service;
  const { accountId } = await service.newCaller();
  const counted = { TableName: ledger.table, Key: { pk: walletPk(accountId) }, UpdateExpression: "ADD checks :eight" };
  await ledger.db.update({ ...counted, ExpressionAttributeValues: { ":eight": 8 } });
  const log = captureLog();
  await Promise.all(times(8, NOBODY).map(() => noteEmptyCheck(ledger, accountId, deadlineIn(29_000))));
  expect(log.lines("identity.empty_checks").map(({ in_a_row }) => in_a_row)).toContain(8);
  expect(await readWallet(ledger, accountId)).toMatchObject({ checks: 8, empty_checks: 8 });
});

test("a check that begins a run at once with another one is counted in the other's", async () => {
  const { ledger } = service;
  const { accountId } = await service.newCaller();
  const ofWallet = { TableName: ledger.table, Key: { pk: walletPk(accountId) } };
  const seven = { UpdateExpression: "ADD checks :eight, empty_checks :seven" };
  await ledger.db.update({ ...ofWallet, ...seven, ExpressionAttributeValues: { ":eight": 8, ":seven": 7 } });
  const update = ledger.db.update.bind(ledger.db);
  vi.spyOn(ledger.db, "update").mockImplementation(async (input, options) => {
    if (input.UpdateExpression?.includes("empty_run_from")) {
      await update({ ...ofWallet, ...emptyRunStart(accountId, { from: 0, found: 7 }) });
    }
    return update(input, options);
  });
  const log = captureLog();
  await noteEmptyCheck(ledger, accountId, deadlineIn(29_000));
  expect(log.lines("identity.empty_checks").map(({ in_a_row }) => in_a_row)).toEqual([8]);
});

test("all writes of a count end at the same time: the answer waits for 2 seconds, and not for 2 seconds for each", async () => {
  const { ledger } = service;
  const { accountId } = await service.newCaller();
  const update = vi.spyOn(ledger.db, "update");
  await noteEmptyCheck(ledger, accountId, deadlineIn(29_000));
  const ends = update.mock.calls.map(([, options]) => options?.abortSignal);
  expect(ends).toEqual([expect.any(AbortSignal), expect.any(AbortSignal)]);
  expect(ends[1]).toBe(ends[0]);
});

test("test checks and checks without an answer are not counted, nor checks of another account", async () => {
  const caller = await service.newCaller();
  expect(await checkInTurn(caller, times(8, NO_ANSWER))).toEqual([]);
  expect(await checkInTurn(caller, times(8, NOBODY), "test")).toEqual([]);
  expect(await checkInTurn(caller, times(7, NOBODY))).toEqual([]);
  expect(await checkInTurn(await service.newCaller(), times(1, NOBODY))).toEqual([]);
});

test("a check that finds nobody is answered also if it cannot be counted", async () => {
  const caller = await service.newCaller();
  service.simulator.state.faults.add(refusal(404, "No record was found."));
  service.proxy.fault = ({ body }) => (body.includes("empty_checks") ? "throttled" : undefined);
  const log = captureLog();
  const answer = await service.call("POST", VERIFY_NIN, { key: caller.key, body: aNinCheck() });
  expect([answer.status, answer.headers.get("x-error-code")]).toEqual([404, "record_not_found"]);
  expect(log.lines("identity.empty_check_not_counted")).toHaveLength(1);
  expect(await caller.balance()).toBe(10_000);
});
