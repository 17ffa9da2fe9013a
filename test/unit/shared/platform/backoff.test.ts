import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { backoff, retryContention } from "../../../../shared/platform/backoff.ts";

/** Goal: contenders spread out, no wait exceeds the time that is left, and the first retry comes soon. */
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Lets time pass, from timer to timer, until this ends. */
const ended = async <Result>(work: Promise<Result>): Promise<PromiseSettledResult<Result>> => {
  let result: PromiseSettledResult<Result> | undefined;
  void Promise.allSettled([work]).then(([settled]) => {
    result = settled;
  });
  while (result === undefined) await vi.advanceTimersToNextTimerAsync();
  return result;
};

/** How long each of the waits takes. */
const waitsOf = async (count: number, remainingMs: () => number = () => 60_000): Promise<readonly number[]> => {
  const nextAttempt = backoff(remainingMs);
  const waits: number[] = [];
  for (let round = 0; round < count; round += 1) {
    const startMs = Date.now();
    expect(await ended(nextAttempt())).toMatchObject({ value: true });
    waits.push(Date.now() - startMs);
  }
  return waits;
};

describe("backoff", () => {
  test("a wait is at most three times the previous one, up to 1 s", async () => {
    vi.spyOn(Math, "random").mockReturnValue(1);
    expect(await waitsOf(6)).toEqual([60, 180, 540, 1_000, 1_000, 1_000]);
  });

  test("a wait is at least 20 ms", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    expect(await waitsOf(3)).toEqual([20, 20, 20]);
  });

  test("50 contenders have different first waits", async () => {
    const firstWaits = new Set<number>();
    for (let contender = 0; contender < 50; contender += 1) for (const wait of await waitsOf(1)) firstWaits.add(wait);
    expect(firstWaits.size).toBeGreaterThan(10);
  });

  test("a wait ends with the time that is left, and no further attempt follows", async () => {
    vi.spyOn(Math, "random").mockReturnValue(1);
    const endMs = Date.now() + 100;
    const nextAttempt = backoff(() => endMs - Date.now());
    const both = Promise.all([nextAttempt(), nextAttempt()]);
    expect(await ended(both)).toMatchObject({ value: [true, true] });
    expect(Date.now()).toBe(endMs);
    expect(await nextAttempt()).toBe(false);
  });
});

describe("retryContention", () => {
  const failing = (name: string) => Object.assign(new Error(name), { name });

  test.each(["TransactionConflictException", "ThrottlingException", "ProvisionedThroughputExceededException"])(
    "a call that meets %s twice is made three times",
    async (name) => {
      const call = vi
        .fn()
        .mockRejectedValueOnce(failing(name))
        .mockRejectedValueOnce(failing(name))
        .mockResolvedValue(7);
      expect(await ended(retryContention(call))).toMatchObject({ status: "fulfilled", value: 7 });
      expect(call).toHaveBeenCalledTimes(3);
    },
  );

  test("a call that meets any other error is made once", async () => {
    const call = vi.fn().mockRejectedValue(failing("TimeoutError"));
    expect(await ended(retryContention(call))).toMatchObject({
      status: "rejected",
      reason: { name: "TimeoutError" },
    });
    expect(call).toHaveBeenCalledTimes(1);
  });

  test("a call that meets conflicts for 5 s throws the last one", async () => {
    const startedMs = Date.now();
    const call = vi.fn().mockRejectedValue(failing("TransactionConflictException"));
    expect(await ended(retryContention(call))).toMatchObject({ status: "rejected" });
    expect(Date.now() - startedMs).toBe(5_000);
  });
});
