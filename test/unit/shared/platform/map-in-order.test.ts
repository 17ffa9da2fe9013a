import { afterEach, beforeEach, expect, test } from "vitest";
import { mapInOrder } from "../../../../shared/platform/map-in-order.ts";
import { sleep } from "../../../../shared/platform/time.ts";

/** Goal: work side by side is bounded, keeps its order, and leaves nothing behind. */
const unhandled: unknown[] = [];
const keep = (reason: unknown): void => void unhandled.push(reason);
beforeEach(() => {
  unhandled.length = 0;
  process.on("unhandledRejection", keep);
});
afterEach(() => void process.off("unhandledRejection", keep));

const CONCURRENCY_MAX = 4;
const numbers = Array.from({ length: 20 }, (_, index) => index);

/** Work that takes a different time for each number, and what is known of it while it runs. */
const watched = (failing?: number) => {
  const seen = { started: 0, running: 0, mostRunning: 0, aborted: 0 };
  const work = async (input: number, abortSignal: AbortSignal): Promise<number> => {
    seen.started += 1;
    seen.running += 1;
    seen.mostRunning = Math.max(seen.mostRunning, seen.running);
    abortSignal.addEventListener("abort", () => {
      seen.aborted += 1;
    });
    try {
      await sleep((input * 7) % 5);
      if (input === failing) throw new Error(`${input} failed`);
      return input;
    } finally {
      seen.running -= 1;
    }
  };
  return { seen, work };
};

test("results come in the inputs' order although the work of each takes a different time", async () => {
  const { seen, work } = watched();
  expect(await Array.fromAsync(mapInOrder(numbers, CONCURRENCY_MAX, work))).toEqual(numbers);
  expect(seen.mostRunning).toBe(CONCURRENCY_MAX);
});

test("a slow consumer holds back further inputs", async () => {
  const { seen, work } = watched();
  for await (const result of mapInOrder(numbers, CONCURRENCY_MAX, work)) {
    await sleep(2);
    expect(seen.started).toBeLessThanOrEqual(result + CONCURRENCY_MAX);
  }
});

test("an error comes in its turn, ends the whole, and leaves no work running", async () => {
  const { seen, work } = watched(6);
  const taken: number[] = [];
  const consume = async (): Promise<void> => {
    for await (const result of mapInOrder(numbers, CONCURRENCY_MAX, work)) taken.push(result);
  };
  await expect(consume()).rejects.toThrow("6 failed");
  expect(taken).toEqual([0, 1, 2, 3, 4, 5]);
  expect(seen).toMatchObject({ started: 6 + CONCURRENCY_MAX, running: 0 });
  expect(seen.aborted).toBeGreaterThan(0);
});

test("an error whose turn never comes is no unhandled rejection", async () => {
  const work = (input: number) => (input === 0 ? sleep(20) : Promise.reject(new Error("too late")));
  for await (const _first of mapInOrder(numbers, CONCURRENCY_MAX, work)) break;
  await sleep(5);
  expect(unhandled).toEqual([]);
});

test("a consumer that stops early aborts what is under way, and no further input is read", async () => {
  const { seen, work } = watched();
  for await (const result of mapInOrder(numbers, CONCURRENCY_MAX, work)) if (result === 2) break;
  expect(seen).toMatchObject({ started: 2 + CONCURRENCY_MAX, running: 0 });
  expect(seen.aborted).toBeGreaterThan(0);
});

test("an error of the inputs ends the whole after what was read before it", async () => {
  const { seen, work } = watched();
  async function* broken() {
    yield* [0, 1];
    throw new Error("no more keys");
  }
  await expect(Array.fromAsync(mapInOrder(broken(), CONCURRENCY_MAX, work))).rejects.toThrow("no more keys");
  expect(seen).toMatchObject({ started: 2, running: 0 });
});
