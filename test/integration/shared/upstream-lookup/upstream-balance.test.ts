import { expect, test } from "vitest";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { ASK_RESERVE_MS } from "../../../../shared/platform/time-budgets.ts";
import { upstreamReader } from "../../../../shared/upstream/http-upstream.ts";
import type { UpstreamReader } from "../../../../shared/upstream/live-upstream.ts";
import { profileOf } from "../../../../shared/upstream/profile.ts";
import { askForBalance, readUpstreamBalance } from "../../../../shared/upstream-lookup/upstream-balance.ts";
import { manners } from "../../../../tools/simulator/manner.ts";
import { openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { answers, startScriptedServer } from "../../../builders/network/scripted-server.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { aSimulator, LIVE_KEY } from "../../../builders/upstream/upstream-simulator.ts";

/** With several keys, one that the upstream refuses is set aside. */
const keys = async () => `${LIVE_KEY}\n${LIVE_KEY}2`;
const liveKey = { value: keys, refetch: keys };
const profile = profileOf({ balance: { path: "/wallet", object: "wallet" } });

const aReader = async (baseUrl: string) => {
  const ledger = await openLedgerAtNoon();
  const cache = { db: ledger.tables.db, table: ledger.tables.cacheTable };
  const reader = upstreamReader({ baseUrl, profile, liveKey, clock: ledger.clock });
  return {
    stored: () => readUpstreamBalance(cache),
    /** A run this many minutes later. */
    ask: (minutes = 0) => {
      ledger.nowMs += minutes * MINUTE_MS;
      return askForBalance({ cache, reader, clock: ledger.clock }, deadlineIn(MINUTE_MS));
    },
  };
};

test.each(manners)("the balance at a %s upstream is read each hour, and measured", async (manner) => {
  const log = captureLog();
  const { baseUrl, state } = await aSimulator({ manner });
  state.balanceKobo = 1_234_56;
  const { ask, stored } = await aReader(baseUrl);
  expect(await ask()).toBe(true);
  expect(await stored()).toMatchObject({ balance_kobo: 1_234_56, read_at: "2026-11-21T12:00:00.000Z" });
  state.balanceKobo = 0;
  expect(await ask(59)).toBe(false);
  expect(await ask(1)).toBe(true);
  expect(await stored()).toMatchObject({ balance_kobo: 0, read_at: "2026-11-21T13:00:00.000Z" });
  expect(log.lines().flatMap(({ UpstreamBalanceNaira: naira = [] }) => naira)).toEqual([1_234.56, 0]);
});

test("an upstream that refuses the question raises no alarm on its keys", async () => {
  const log = captureLog();
  const refused = answers(403, { status: false, message: "You do not have permission to perform this action" });
  const { ask } = await aReader((await startScriptedServer(refused)).baseUrl);
  expect(await ask()).toBe(false);
  expect(log.lines("upstream.key_rejected")).toEqual([]);
});

test("an answer without a balance keeps the last one with its time, and is asked for again after 10 minutes", async () => {
  const log = captureLog();
  const wallet = (balance: unknown) => answers(200, { status: true, message: "Found", data: { wallet: { balance } } });
  const { baseUrl, received } = await startScriptedServer(
    wallet("50.00"),
    wallet(-1),
    wallet(null),
    answers(500, { status: false, message: "Error" }),
    answers(200, { status: false, message: "No", data: { wallet: { balance: 9 } } }),
    answers(200, "<html>"),
    wallet(60),
  );
  const { ask, stored } = await aReader(baseUrl);
  expect(await ask()).toBe(true);
  await ask(60);
  for (let again = 0; again < 4; again += 1) expect([await ask(9), await ask(1)]).toEqual([false, false]);
  expect(await stored()).toMatchObject({ balance_kobo: 50_00, read_at: "2026-11-21T12:00:00.000Z" });
  expect(await ask(10)).toBe(true);
  expect(await stored()).toMatchObject({ balance_kobo: 60_00 });
  const reasons = log.lines("upstream.balance_not_read").map(({ reason }) => reason);
  expect(reasons).toEqual(["no_amount", "no_amount", "status_500", "status_200", "status_200"]);
  expect(new Set(received.map(({ method, path, body }) => `${method} ${path}${body}`))).toEqual(
    new Set(["GET /v1/wallet"]),
  );
});

test("no balance is asked for without a path, at the upstream's limit, or without the time for an answer", async () => {
  const { clock, tables } = await openLedgerAtNoon();
  const cache = { db: tables.db, table: tables.cacheTable };
  const askWith = (reader: UpstreamReader, ms = ASK_RESERVE_MS) =>
    askForBalance({ cache, reader, clock }, { remainingMs: () => ms });
  const readBalance = async () => ({ kind: "read", balanceKobo: koboFromNaira(5) }) as const;
  expect(await askWith({ waitS: () => 0 })).toBe(false);
  expect(await askWith({ readBalance, waitS: () => 1 })).toBe(false);
  expect(await askWith({ readBalance, waitS: () => 0 }, ASK_RESERVE_MS - 1)).toBe(false);
  expect(await readUpstreamBalance(cache)).toBeUndefined();
  expect(await askWith({ readBalance, waitS: () => 0 })).toBe(true);
});
