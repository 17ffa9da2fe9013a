import * as z from "#zod";
import {
  CONFLICT_REASON,
  cancelled,
  conflictAnswer,
  inProgressAnswer,
  mismatchAnswer,
  NO_REASON,
  notSimulatedAnswer,
  THROTTLED_REASON,
  throttledAnswer,
} from "./answers.ts";
import { chanceOf } from "./chance.ts";
import { type Counts, newCounts } from "./counts.ts";
import { imagesOf, reasonsWithoutEffect } from "./emulator.ts";
import { newHistory, TABLE_VIEW } from "./history.ts";
import { newHolds } from "./holds.ts";
import { type Item, tableShapes } from "./items.ts";
import { newReads } from "./reads.ts";
import type { Range, StrictSettings } from "./settings.ts";
import { newThrottles, type Throttled, type Touch } from "./throttles.ts";
import { newTokens } from "./tokens.ts";
import type { Forward, WireAnswer } from "./wire.ts";
import { singleWrite, transactionWrites, type Write } from "./writes.ts";

export type StrictAnswer = WireAnswer & {
  /** The call took effect, and its answer never comes. */
  readonly lost: boolean;
  /** How long the answer takes beyond the emulator's own time. */
  readonly delayMs: number;
};

export type StrictDynamoDb = {
  /** Answers one operation as AWS documents it. */
  readonly handle: (operation: string, body: string) => Promise<StrictAnswer>;
  /** How often it did what the emulator would not have done. */
  readonly counts: Readonly<Counts>;
  /** Requests that it refused because it cannot answer as AWS does. A test must end without one. */
  readonly notSimulated: string[];
  /** From now on nothing happens by chance; holds of transactions, tokens and lag go on. */
  readonly calm: () => void;
  /** How far the indexes are behind what is written from now on. */
  readonly lagBy: (lagMs: Range) => void;
  /** Keeps one key of an index full: every write that changes what the index has of it is refused, and every query. */
  readonly fillIndexKey: (key: string | undefined) => void;
  /** How often a full key refused a call. */
  readonly fullKeyRefusals: () => number;
};

/** The clock that the holds, tokens and lag go by. */
export type StrictTime = {
  readonly now: () => number;
  readonly sleep: (delayMs: number) => Promise<void>;
};
const realTime: StrictTime = {
  now: () => Date.now(),
  sleep: (delayMs) => new Promise((wake) => setTimeout(wake, delayMs)),
};

/** How far a read without `ConsistentRead` may be behind. */
const WEAK_READ_LAG_MS = 2_000;
const READS = new Set(["GetItem", "BatchGetItem", "Query", "Scan"]);
const SINGLE_WRITES = new Set(["PutItem", "UpdateItem", "DeleteItem"]);
/** Our code does not use these, and they would bypass the layer. */
const NOT_SIMULATED = /^(BatchWriteItem|TransactGetItems|Execute|BatchExecute)/;

/**
 * Adds to an emulator what AWS documents and the emulator lacks. All writes of a table must come through it, for it
 * keeps what they replaced; reads past it see the table as it is.
 */
export const strictDynamoDb = ({
  settings,
  seed,
  forward,
  time = realTime,
}: {
  readonly settings: StrictSettings;
  readonly seed: number;
  readonly forward: Forward;
  readonly time?: StrictTime;
}): StrictDynamoDb => {
  const { now, sleep } = time;
  let active = settings;
  let lagMs: Range = { min: 0, max: settings.lagMaxMs };
  const chance = chanceOf(seed);
  const shapes = tableShapes(forward);
  const holds = newHolds(now);
  const tokens = newTokens(now, settings.cancelledBindsToken);
  const history = newHistory(now);
  const throttles = newThrottles(() => active.throttling, settings.throttledMs, chance, now);
  const { counts, counted } = newCounts();
  const notSimulated: string[] = [];
  const reads = newReads({ forward, shapes, history, throttles, counted, lags: settings.lagMaxMs > 0 });

  /** Without its former image, a write of an item that leaves a full key would pass. */
  const touchOf = async (write: Write, sent: unknown): Promise<Touch> => {
    const { table, id, indexes } = write;
    const isNamed = (image: unknown): boolean => JSON.stringify(image ?? null).includes(`"${throttles.fullIndexKey}"`);
    const isFull =
      throttles.fullIndexKey !== undefined &&
      indexes.length > 0 &&
      (isNamed(sent) || isNamed((await imagesOf(forward, [write])).get(id)));
    return { kind: "Write", table, id, indexes, ...(isFull && { indexKeys: [throttles.fullIndexKey ?? ""] }) };
  };

  /** Another transaction takes one of the items. */
  const letOthersHold = (writes: readonly Write[]): void => {
    if (!chance.happens(active.foreignHolds)) return;
    const write = chance.oneOf(writes);
    if (write !== undefined) holds.takeUntil(write, now() + chance.within(active.holdMs));
  };

  const before = async (writes: readonly Write[]): Promise<ReadonlyMap<string, Item>> =>
    settings.lagMaxMs === 0 ? new Map() : imagesOf(forward, writes);
  const remember = async (writes: readonly Write[], images: ReadonlyMap<string, Item>): Promise<void> => {
    if (settings.lagMaxMs === 0) return;
    for (const write of writes.filter(({ changes }) => changes)) {
      const { indexes } = await shapes(write.table);
      const views = [TABLE_VIEW, ...indexes.map(({ name }) => name)];
      const weakMs = { min: 0, max: Math.min(lagMs.max, WEAK_READ_LAG_MS) };
      const delaysMs = views.map((view): [string, number] => [
        view,
        chance.within(view === TABLE_VIEW ? weakMs : lagMs),
      ]);
      history.add(write, images.get(write.id), new Map(delaysMs));
    }
  };

  const write = async (operation: string, body: string): Promise<WireAnswer> => {
    const target = await singleWrite(shapes, operation, JSON.parse(body));
    const throttled = throttles.refusalOf(await touchOf(target, JSON.parse(body)));
    if (throttled !== undefined) return counted("throttled", throttledAnswer(throttled));
    letOthersHold([target]);
    const images = await before([target]);
    if (holds.isHeld(target)) return counted("conflict", conflictAnswer);
    const answer = await forward(operation, body);
    if (answer.status === 200) await remember([target], images);
    return answer;
  };

  const transact = async (body: string, isLost: boolean): Promise<WireAnswer> => {
    const { ClientRequestToken: token, ...request } = transactionBody.parse(JSON.parse(body));
    const writes = await transactionWrites(shapes, request);
    switch (token === undefined ? "new" : tokens.check(token, request.TransactItems)) {
      case "mismatch":
        return counted("token_mismatch", mismatchAnswer);
      case "in_progress":
        return counted("token_in_progress", inProgressAnswer);
      case "done":
        return counted("token_replayed", { status: 200, body: "{}" });
      case "new":
    }
    const end = token === undefined ? () => {} : tokens.begin(token, request.TransactItems);
    const throttled: (Throttled | undefined)[] = [];
    for (const [index, one] of writes.entries()) {
      throttled.push(throttles.refusalOf(await touchOf(one, request.TransactItems[index])));
    }
    if (throttled.some((one) => one !== undefined)) {
      end("cancelled", now());
      return counted("throttled", cancelled(throttled.map((one) => (one ? THROTTLED_REASON : NO_REASON))));
    }
    letOthersHold(writes);
    if (writes.some(holds.isHeld)) {
      const held = writes.map(holds.isHeld);
      const others = await reasonsWithoutEffect(forward, request.TransactItems, writes);
      end("cancelled", now());
      const reasonAt = (position: number) => (held[position] ? CONFLICT_REASON : (others[position] ?? NO_REASON));
      return counted("conflict", cancelled(writes.map((_, position) => reasonAt(position))));
    }
    const release = holds.take(writes);
    let outcome: "done" | "cancelled" = "cancelled";
    let lingerMs = 0;
    try {
      const holdMs = chance.within(active.holdMs);
      const begunMs = chance.within({ min: 0, max: holdMs });
      if (isLost) lingerMs = chance.within(active.lingerMs);
      if (begunMs > 0) await sleep(begunMs);
      const images = await before(writes);
      const answer = await forward("TransactWriteItems", JSON.stringify(request));
      if (answer.status === 200) {
        outcome = "done";
        await remember(writes, images);
      }
      if (holdMs > begunMs) await sleep(holdMs - begunMs);
      return answer;
    } finally {
      const endsMs = now() + lingerMs;
      release(endsMs);
      end(outcome, endsMs);
    }
  };

  const answerTo = async (operation: string, body: string, isLost: boolean): Promise<WireAnswer> => {
    if (NOT_SIMULATED.test(operation)) throw new Error("not in use here");
    if (SINGLE_WRITES.has(operation)) return write(operation, body);
    if (operation === "TransactWriteItems") return transact(body, isLost);
    if (READS.has(operation)) return reads(operation, body);
    return forward(operation, body);
  };

  return {
    counts,
    notSimulated,
    lagBy: (range) => {
      lagMs = range;
    },
    fillIndexKey: (key) => {
      throttles.fullIndexKey = key;
    },
    fullKeyRefusals: () => throttles.fullRefusals,
    calm: () => {
      lagMs = { min: 0, max: settings.lagMaxMs };
      throttles.fullIndexKey = undefined;
      active = { ...active, foreignHolds: 0, throttling: 0, lostAnswers: 0, slowAnswers: 0 };
    },
    handle: async (operation, body) => {
      const lost = chance.happens(active.lostAnswers);
      const delayMs = chance.happens(active.slowAnswers) ? chance.within(active.slowMs) : 0;
      try {
        const answer = await answerTo(operation, body, lost);
        if (lost) counts.answer_lost += 1;
        if (delayMs > 0) counts.answer_slow += 1;
        return { ...answer, lost, delayMs };
      } catch (error) {
        const what = `${operation}: ${error instanceof Error ? error.message : String(error)}`;
        notSimulated.push(what);
        return { ...notSimulatedAnswer(what), lost: false, delayMs: 0 };
      }
    },
  };
};

const transactionBody = z.object({
  ClientRequestToken: z.optional(z.string()),
  TransactItems: z.array(z.unknown()),
  ReturnConsumedCapacity: z.optional(z.string()),
});
