import { expect, onTestFinished, test, vi } from "vitest";
import { keyedMutex } from "../../../../shared/platform/keyed-mutex.ts";

/** Work that a test ends when it likes. */
const open = () => {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return { work: () => promise, resolve, reject };
};
const turn = (): Promise<void> => new Promise((wake) => setImmediate(wake));

test("work on one key runs in sequence, and work on another key in parallel", async () => {
  const inSequence = keyedMutex();
  const begun: string[] = [];
  const gates = [open(), open()];
  const [first, second] = gates.map(({ work }, index) =>
    inSequence("a", () => {
      begun.push(`a${index}`);
      return work();
    }),
  );
  expect(await inSequence("b", async () => "b")).toBe("b");
  await turn();
  expect(begun).toEqual(["a0"]);
  gates[0]?.resolve("one");
  expect(await first).toBe("one");
  await turn();
  expect(begun).toEqual(["a0", "a1"]);
  gates[1]?.resolve("two");
  expect(await second).toBe("two");
});

test("failed work rejects for its own caller only, and the next work on its key runs", async () => {
  const inSequence = keyedMutex();
  const failing = inSequence("a", () => Promise.reject(new Error("first")));
  const following = inSequence("a", async () => "second");
  await expect(failing).rejects.toThrow("first");
  expect(await following).toBe("second");
});

test("work that never ends delays the next work on its key by 3 s", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const inSequence = keyedMutex();
  void inSequence("a", () => new Promise(() => {}));
  const begunMs = Date.now();
  const following = inSequence("a", async () => Date.now() - begunMs);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await following).toBe(3_000);
});
