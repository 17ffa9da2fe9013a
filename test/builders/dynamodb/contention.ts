import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import { vi } from "vitest";
import * as z from "#zod";
import { koboFromNaira, koboSchema } from "../../../shared/contract/values/money.ts";
import { type OpenResult, openTransaction } from "../../../shared/ledger/open-transaction.ts";
import { emptyWallet, readWallet } from "../../../shared/ledger/wallet.ts";
import { deadlineIn } from "../../../shared/platform/deadline.ts";
import { sleep } from "../../../shared/platform/time.ts";
import { localClient } from "../../../tools/local/local-aws.ts";
import { strictDynamoDb } from "../../strict/dynamodb.ts";
import { type StrictSettings, strictSettings } from "../../strict/settings.ts";
import { forwardTo, type WireAnswer } from "../../strict/wire.ts";
import { newTransaction } from "../ledger/transaction.ts";
import { seeded } from "../run/seeded.ts";
import { emulatorClientAt } from "./emulator-client.ts";
import { freshTables } from "./tables.ts";

/** Transactions hold their items for this long, and nothing else happens. */
export const holding = (holdMs: number, changes: Partial<StrictSettings> = {}): StrictSettings => ({
  ...strictSettings["conflicts, tokens bound"],
  holdMs: { min: holdMs, max: holdMs },
  foreignHolds: 0,
  ...changes,
});

export type Contention = {
  readonly debits: number;
  /** They begin over this time: evenly, or at random moments, as those of independent callers do. */
  readonly withinMs: number;
  readonly arrivals?: "even" | "random";
  readonly holdMs: number;
};
export type Contended = {
  readonly outcomes: readonly OpenResult["kind"][];
  readonly waitsMs: readonly number[];
  /** Attempts that a conflict cancelled. */
  readonly cancelled: number;
  /** What the wallet lost: the price of each opened order. */
  readonly takenKobo: number;
};

export const PRICE_KOBO = koboFromNaira(500);
const FUNCTION_MS = 29_000;
/** From a function to DynamoDB, and back. */
const WAY_MS = 2;

/**
 * Debits of one wallet at the same time, each with a function's time, through the strict layer.
 *
 * Time is simulated: it stands still while the SDK, the strict layer and the emulator are at work, and jumps to the
 * next timer when nothing is. So the result does not depend on the machine.
 */
export const contend = async (
  emulator: string,
  { debits, withinMs, arrivals = "even", holdMs }: Contention,
  seed: number,
): Promise<Contended> => {
  const direct = emulatorClientAt(emulator);
  const { ledgerTable: table } = await freshTables(direct);
  const accountId = `acc_${randomUUID()}`;
  const fundsKobo = koboSchema.parse((debits + 1) * PRICE_KOBO);
  const Item = { ...emptyWallet(accountId, Date.now()), balance_kobo: fundsKobo };
  await direct.put({ TableName: table, Item });

  const { forward, close } = forwardTo(emulator);
  let atWork = 0;
  const counted = async (operation: string, body: string): Promise<WireAnswer> => {
    atWork += 1;
    try {
      return await forward(operation, body);
    } finally {
      atWork -= 1;
    }
  };
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.now() });
  vi.spyOn(Math, "random").mockImplementation(seeded(seed));
  vi.spyOn(AbortSignal, "timeout").mockImplementation(simulatedTimeout);
  try {
    const strict = strictDynamoDb({ settings: holding(holdMs), seed, forward: counted });
    const ledger = { db: clientOf(strict.handle), table, clock: Date.now };
    const open = async (index: number) => {
      await sleep(withinMs * (arrivals === "even" ? index / debits : Math.random()));
      const begunMs = Date.now();
      const transaction = newTransaction(accountId, { amount_kobo: PRICE_KOBO });
      const { kind } = await openTransaction(ledger, transaction, [], deadlineIn(FUNCTION_MS));
      return { kind, waitMs: Date.now() - begunMs };
    };
    const results = await inSimulatedTime(
      Promise.all(Array.from({ length: debits }, (_, index) => open(index))),
      () => atWork > 0,
    );
    const { balance_kobo } = await inSimulatedTime(readWallet(ledger, accountId), () => atWork > 0);
    return {
      outcomes: results.map(({ kind }) => kind),
      waitsMs: results.map(({ waitMs }) => waitMs),
      cancelled: strict.counts.conflict,
      takenKobo: fundsKobo - balance_kobo,
    };
  } finally {
    vi.useRealTimers();
    vi.mocked(Math.random).mockRestore();
    vi.mocked(AbortSignal.timeout).mockRestore();
    close();
    direct.destroy();
  }
};

/** Node's own reads the machine's clock. */
const simulatedTimeout = (delayMs: number): AbortSignal => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new DOMException("The time is up", "TimeoutError")), delayMs);
  return controller.signal;
};

const text = z.union([
  z.string(),
  z.pipe(
    z.instanceof(Uint8Array),
    z.transform((bytes) => Buffer.from(bytes).toString("utf8")),
  ),
]);
const target = z.object({ headers: z.object({ "x-amz-target": z.string() }), body: text });

/** A client whose requests go to the strict layer instead of a socket. */
const clientOf = (handle: (operation: string, body: string) => Promise<WireAnswer>): DynamoDBDocument => {
  const requestHandler = {
    handle: async (request: unknown) => {
      const { headers, body } = target.parse(request);
      const [, operation = ""] = headers["x-amz-target"].split(".");
      await sleep(WAY_MS);
      const answer = await handle(operation, body);
      await sleep(WAY_MS);
      const response = { statusCode: answer.status, headers: {}, body: Buffer.from(answer.body) };
      return { response };
    },
  };
  return DynamoDBDocument.from(new DynamoDBClient({ ...localClient("http://strict"), requestHandler }));
};

const immediate = (): Promise<void> => new Promise((wake) => setImmediate(wake));
/** Rounds of the event loop in which whatever can go on without a timer does so. */
const ROUNDS = 3;

/** Lets time jump from timer to timer, whenever nothing is at work, until the promise has settled. */
const inSimulatedTime = async <Result>(promise: Promise<Result>, isAtWork: () => boolean): Promise<Result> => {
  let isOpen = true;
  const ended = promise.finally(() => {
    isOpen = false;
  });
  ended.catch(() => undefined);
  while (isOpen) {
    let quiet = 0;
    while (quiet < ROUNDS) {
      await immediate();
      quiet = isAtWork() ? 0 : quiet + 1;
    }
    if (isOpen) await vi.advanceTimersToNextTimerAsync();
  }
  return ended;
};
