import { expect, test } from "vitest";
import { lowestOf, sortedReader } from "../../../../shared/ledger/sorted-reader.ts";

test("streams are compared key by key, and of none more is read than what has the next key, and one more", async () => {
  let read = 0;
  function* counted(keys: readonly string[]) {
    for (const sequence of keys) {
      read += 1;
      yield { sequence };
    }
  }
  const [one, other] = await Promise.all([
    sortedReader(counted(["1", "1", "3", "9"])),
    sortedReader(counted(["2", "3"])),
  ]);
  const found: (readonly [string, number, number])[] = [];
  for (;;) {
    const key = lowestOf([one.key(), other.key()]);
    if (key === undefined) break;
    found.push([key, (await one.take(key)).length, (await other.take(key)).length]);
    if (key === "1") expect(read).toBe(4);
  }
  expect(found).toEqual([
    ["1", 2, 0],
    ["2", 0, 1],
    ["3", 1, 1],
    ["9", 1, 0],
  ]);
  expect(read).toBe(6);
});

test("a key that is not the next one takes nothing", async () => {
  const reader = await sortedReader([{ sequence: "2" }]);
  expect(await reader.take("1")).toEqual([]);
  expect(reader.key()).toBe("2");
  expect(lowestOf([])).toBeUndefined();
});
