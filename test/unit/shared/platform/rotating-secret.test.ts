import { describe, expect, onTestFinished, test, vi } from "vitest";
import { rotatingSecret } from "../../../../shared/platform/rotating-secret.ts";
import { JOIN_MS_MAX } from "../../../../shared/platform/time-budgets.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

type Versions = { readonly current: string; readonly previous: string | undefined };

/** A rotating secret whose cache has `cached`, while Secrets Manager has `stored.versions`. */
const aRotatingSecret = (cached: Versions) => {
  const stored = { versions: cached, isFailing: false, fetches: 0 };
  const clock = { nowMs: NOON_MS };
  const version = (stage: keyof Versions) => {
    let value = cached[stage];
    return {
      value: async () => value,
      refetch: async () => {
        stored.fetches += 1;
        if (stored.isFailing) throw new Error("Secrets Manager fails");
        value = stored.versions[stage];
        return value;
      },
    };
  };
  const secret = rotatingSecret(version("current"), version("previous"), () => clock.nowMs);
  return { secret, stored, clock, matches: (presented: string) => secret.matches((one) => one === presented) };
};

describe("rotatingSecret", () => {
  test("the current and the previous version match without a fetch", async () => {
    const { secret, stored, matches } = aRotatingSecret({ current: "new", previous: "old" });
    expect(await matches("new")).toBe(true);
    expect(await matches("old")).toBe(true);
    expect(await secret.current()).toBe("new");
    expect(stored.fetches).toBe(0);
  });

  test("an absent previous version matches nothing", async () => {
    const { secret } = aRotatingSecret({ current: "new", previous: undefined });
    const tested: string[] = [];
    await secret.matches((version) => {
      tested.push(version);
      return false;
    });
    expect(tested).toEqual(["new", "new"]);
  });

  test("a value that no cached version matches fetches both versions, so that a rotation takes effect at once", async () => {
    const { secret, stored, matches } = aRotatingSecret({ current: "first", previous: undefined });
    stored.versions = { current: "second", previous: "first" };
    expect(await matches("second")).toBe(true);
    expect(await matches("first")).toBe(true);
    expect(await secret.current()).toBe("second");
    expect(stored.fetches).toBe(2);
  });

  test("a version that was rotated twice no longer matches once the cache knows it", async () => {
    const { stored, matches } = aRotatingSecret({ current: "first", previous: undefined });
    stored.versions = { current: "third", previous: "second" };
    expect(await matches("third")).toBe(true);
    expect(await matches("first")).toBe(false);
  });

  test("wrong values fetch at most once in 5 s", async () => {
    const { stored, clock, matches } = aRotatingSecret({ current: "new", previous: "old" });
    expect(await Promise.all(Array.from({ length: 100 }, () => matches("wrong")))).not.toContain(true);
    clock.nowMs += 4_999;
    expect(await matches("wrong")).toBe(false);
    expect(stored.fetches).toBe(2);
    clock.nowMs += 1;
    expect(await matches("wrong")).toBe(false);
    expect(stored.fetches).toBe(4);
  });

  test("a clock that is set back does not prolong the 5 s: a rotation takes effect", async () => {
    const { stored, clock, matches } = aRotatingSecret({ current: "first", previous: undefined });
    expect(await matches("wrong")).toBe(false);
    stored.versions = { current: "second", previous: "first" };
    clock.nowMs -= 3_600_000;
    expect(await matches("second")).toBe(true);
  });

  test("a failed fetch keeps the cached versions, and is not an error", async () => {
    const { stored, matches } = aRotatingSecret({ current: "new", previous: "old" });
    stored.isFailing = true;
    expect(await matches("wrong")).toBe(false);
    expect(await matches("old")).toBe(true);
  });

  test("a value that arrives during a fetch that never ends is compared with the cache after 3 s", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const hanging = { value: async () => "new", refetch: () => new Promise<never>(() => {}) };
    const secret = rotatingSecret(hanging, hanging, () => NOON_MS);
    void secret.matches(() => false);
    const joined = secret.matches(() => false);
    await vi.advanceTimersByTimeAsync(JOIN_MS_MAX - 1);
    await expect(Promise.race([joined, "waiting"])).resolves.toBe("waiting");
    await vi.advanceTimersByTimeAsync(1);
    await expect(Promise.race([joined, "waiting"])).resolves.toBe(false);
  });
});
