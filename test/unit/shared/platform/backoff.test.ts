import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { backoff, retryContention } from "../../../../shared/platform/backoff.ts";

/** Goal: contenders spread out, nobody waits beyond the time that is left, and the first retry comes soon. */
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** How long each of the waits takes. */
const waitsOf = async (count: number, remainingMs: () => number = () => 60_000): Promise<readonly number[]> => {
  const nextAttempt = backoff(remainingMs);
  const waits: number[] = [];
  for (let round = 0; round < count; round += 1) {
    const startMs = Date.now();
    const wait = nextAttempt();
    await vi.runAllTimersAsync();
    expect(await wait).toBe(true);
    waits.push(Date.now() - startMs);
  }
  return waits;
};

describe("the wait before the next attempt", () => {
  test("is at most three times the one before, up to 1 s", async () => {
    vi.spyOn(Math, "random").mockReturnValue(1);
    expect(await waitsOf(6)).toEqual([60, 180, 540, 1_000, 1_000, 1_000]);
  });

  test("is at least 20 ms", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    expect(await waitsOf(3)).toEqual([20, 20, 20]);
  });

  test("is another for each contender", async () => {
    const firstWaits = new Set<number>();
    for (let contender = 0; contender < 50; contender += 1) for (const wait of await waitsOf(1)) firstWaits.add(wait);
    expect(firstWaits.size).toBeGreaterThan(10);
  });

  test("ends with the time that is left, and then no further attempt is made", async () => {
    vi.spyOn(Math, "random").mockReturnValue(1);
    const endMs = Date.now() + 100;
    const nextAttempt = backoff(() => endMs - Date.now());
    const both = Promise.all([nextAttempt(), nextAttempt()]);
    await vi.runAllTimersAsync();
    expect(await both).toEqual([true, true]);
    expect(Date.now()).toBe(endMs);
    expect(await nextAttempt()).toBe(false);
  });
});

describe("a single write", () => {
  const failing = (name: string) => Object.assign(new Error(name), { name });
  const settled = async <Result>(work: Promise<Result>) => {
    const [result] = await Promise.all([Promise.allSettled([work]), vi.runAllTimersAsync()]);
    return result[0];
  };

  test.each(["TransactionConflictException", "ThrottlingException", "ProvisionedThroughputExceededException"])(
    "that meets %s twice is made three times",
    async (name) => {
      const call = vi
        .fn()
        .mockRejectedValueOnce(failing(name))
        .mockRejectedValueOnce(failing(name))
        .mockResolvedValue(7);
      expect(await settled(retryContention(call))).toMatchObject({ status: "fulfilled", value: 7 });
      expect(call).toHaveBeenCalledTimes(3);
    },
  );

  test("that meets any other error is made once", async () => {
    const call = vi.fn().mockRejectedValue(failing("TimeoutError"));
    expect(await settled(retryContention(call))).toMatchObject({
      status: "rejected",
      reason: { name: "TimeoutError" },
    });
    expect(call).toHaveBeenCalledTimes(1);
  });

  test("that meets conflicts for 5 s is given up with the last one", async () => {
    const begunMs = Date.now();
    const call = vi.fn().mockRejectedValue(failing("TransactionConflictException"));
    expect(await settled(retryContention(call))).toMatchObject({ status: "rejected" });
    expect(Date.now() - begunMs).toBe(5_000);
  });
});
