import { describe, expect, test } from "vitest";
import type { SecretOutput } from "../../../../shared/platform/aws/services.ts";
import type { SecretsClient } from "../../../../shared/platform/aws-clients.ts";
import { secret } from "../../../../shared/platform/secrets.ts";
import { sleep } from "../../../../shared/platform/time.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

const FIVE_MINUTES_MS = 300_000;

const notFound = Object.assign(new Error("none"), { name: "ResourceNotFoundException" });

type Version = { readonly value: string; readonly createdMs: number };

/** A secret with these versions, of which one may be absent. */
const clientOf = (versions: { readonly AWSCURRENT?: Version; readonly AWSPREVIOUS?: Version }): SecretsClient => ({
  getSecretValue: async ({ VersionStage }) => {
    const version = VersionStage === "AWSPREVIOUS" ? versions.AWSPREVIOUS : versions.AWSCURRENT;
    if (version === undefined) throw notFound;
    return { SecretString: version.value, CreatedDate: new Date(version.createdMs) };
  },
});

const current = { value: "current", createdMs: NOON_MS };

test.each([
  ["was made before the current one counts", { AWSCURRENT: current, AWSPREVIOUS: 1 }, "previous"],
  // A rotation came between the two requests.
  ["is the current one counts", { AWSCURRENT: current, AWSPREVIOUS: 0 }, "previous"],
  // A put with the stage AWSPREVIOUS alone, about which Secrets Manager sends no event.
  ["was never current does not count", { AWSCURRENT: current, AWSPREVIOUS: -1 }, undefined],
  ["has no current one beside it does not count", { AWSPREVIOUS: 1 }, undefined],
])("a previous version of a secret that %s", async (_, { AWSPREVIOUS: agoMs, ...others }, value) => {
  const client = clientOf({ ...others, AWSPREVIOUS: { value: "previous", createdMs: NOON_MS - agoMs } });
  expect(await secret(client, "webhook-token", () => NOON_MS, "AWSPREVIOUS").value()).toBe(value);
});

test("a secret that was never rotated has no previous version", async () => {
  expect(await secret(clientOf({ AWSCURRENT: current }), "webhook-token", () => NOON_MS, "AWSPREVIOUS").value()).toBe(
    undefined,
  );
});

test("a clock that is set back does not prolong the use of a cached value, and the next value is kept", async () => {
  const versions = { AWSCURRENT: current };
  const client = clientOf(versions);
  let nowMs = NOON_MS;
  const rotated = secret(client, "upstream-key", () => nowMs);
  expect(await rotated.value()).toBe("current");
  versions.AWSCURRENT = { ...current, value: "next" };
  nowMs -= 3_600_000;
  expect(await rotated.value()).toBe("next");
  versions.AWSCURRENT = { ...current, value: "after it" };
  nowMs += FIVE_MINUTES_MS - 1;
  expect(await rotated.value()).toBe("next");
  nowMs += 1;
  expect(await rotated.value()).toBe("after it");
});

/** A secret whose first two fetches are answered when the test does it; the second is sent an hour after the first. */
const twoFetches = () => {
  const answers = [Promise.withResolvers<SecretOutput>(), Promise.withResolvers<SecretOutput>()] as const;
  let sent = 0;
  let nowMs = NOON_MS;
  const client = { getSecretValue: async () => (await answers[sent++]?.promise) ?? {} };
  const { refetch, value } = secret(client, "upstream-key", () => nowMs);
  const frozen = refetch();
  nowMs += 3_600_000;
  return { frozen, thawed: refetch(), value, answers };
};

test("a fetch of an invocation that was frozen is not waited for: its answer is as old as its request", async () => {
  const { frozen, thawed, value, answers } = twoFetches();
  answers[0].resolve({ SecretString: "old" });
  expect(await frozen).toBe("old");
  answers[1].resolve({ SecretString: "rotated" });
  expect(await thawed).toBe("rotated");
  expect(await value()).toBe("rotated");
});

test("a fetch that a later one overtook resolves with the newer value", async () => {
  const { frozen, thawed, value, answers } = twoFetches();
  answers[1].resolve({ SecretString: "rotated" });
  expect(await thawed).toBe("rotated");
  answers[0].resolve({ SecretString: "old" });
  expect(await frozen).toBe("rotated");
  expect(await value()).toBe("rotated");
});

/** What Secrets Manager has, how it fails if it does, and the requests that it got. */
type State = {
  value: string | undefined;
  /** Answers wait for this. */
  released?: Promise<void>;
  failure?: "unavailable" | "hangs";
  readonly requests: unknown[];
};

/** A secret whose value the test changes, and a clock that only the test moves. */
const aSecret = (value: string | undefined) => {
  const state: State = { value, requests: [] };
  const clock = { nowMs: NOON_MS };
  const getSecretValue: SecretsClient["getSecretValue"] = async (input) => {
    state.requests.push(input);
    const { value: stored, failure } = state;
    await state.released;
    if (failure === "hangs") return new Promise<never>(() => {});
    if (failure === "unavailable") throw new Error("unavailable");
    if (stored === undefined) throw notFound;
    return { SecretString: stored };
  };
  return { ...secret({ getSecretValue }, "upstream-key", () => clock.nowMs), state, clock };
};

describe("a cached secret", () => {
  test("100 uses within 5 minutes fetch the secret once", async () => {
    const { value, state } = aSecret("live_key");
    for (let use = 0; use < 100; use += 1) expect(await value()).toBe("live_key");
    expect(state.requests).toEqual([{ SecretId: "upstream-key", VersionStage: "AWSCURRENT" }]);
  });

  test("a rotated value is used after 5 minutes, and not before", async () => {
    const { value, state, clock } = aSecret("live_old");
    await value();
    state.value = "live_new";
    clock.nowMs = NOON_MS + FIVE_MINUTES_MS - 1;
    expect(await value()).toBe("live_old");
    clock.nowMs = NOON_MS + FIVE_MINUTES_MS;
    expect(await value()).toBe("live_new");
    expect(state.requests).toHaveLength(2);
  });
});

test("refetch returns a rotated value at once, and later uses have it without another fetch", async () => {
  const { value, refetch, state } = aSecret("live_old");
  await value();
  state.value = "live_new";
  expect(await refetch()).toBe("live_new");
  expect(await value()).toBe("live_new");
  expect(state.requests).toHaveLength(2);
});

describe("an absent secret", () => {
  test("is fetched once in 60 s, and a first value is used after them", async () => {
    const { value, state, clock } = aSecret(undefined);
    for (let use = 0; use < 100; use += 1) expect(await value()).toBeUndefined();
    state.value = "live_key";
    clock.nowMs = NOON_MS + 59_999;
    expect(await value()).toBeUndefined();
    expect(state.requests).toHaveLength(1);
    clock.nowMs = NOON_MS + 60_000;
    expect(await value()).toBe("live_key");
    expect(state.requests).toHaveLength(2);
  });

  test("has its first value at once after refetch", async () => {
    const { value, refetch, state } = aSecret(undefined);
    await value();
    state.value = "live_key";
    expect([await refetch(), await value()]).toEqual(["live_key", "live_key"]);
  });

  test.for([
    ["", undefined],
    ["  ", undefined],
    ["\n", undefined],
    ["  live_key\n", "live_key"],
  ] as const)("is one that holds %j: it is %s", async ([stored, used]) => {
    expect(await aSecret(stored).value()).toBe(used);
  });

  test("is a deleted one after its 5 minutes", async () => {
    const { value, state, clock } = aSecret("live_key");
    await value();
    state.value = undefined;
    clock.nowMs = NOON_MS + FIVE_MINUTES_MS;
    expect(await value()).toBeUndefined();
  });
});

describe("during an outage of Secrets Manager", () => {
  test("the cached value is used for a day, and the new one 5 s after the last failed fetch", async () => {
    const { value, state, clock } = aSecret("live_old");
    await value();
    Object.assign(state, { failure: "unavailable", value: "live_new" });
    clock.nowMs = NOON_MS + 24 * 3_600_000;
    for (let use = 0; use < 100; use += 1) expect(await value()).toBe("live_old");
    expect(state.requests).toHaveLength(2);
    delete state.failure;
    clock.nowMs += 5_000;
    expect(await value()).toBe("live_new");
  });

  test("a fetch without an answer is waited for a second, once in 5 s", async () => {
    const { value, state, clock } = aSecret("live_key");
    await value();
    state.failure = "hangs";
    clock.nowMs = NOON_MS + FIVE_MINUTES_MS;
    for (let use = 0; use < 100; use += 1) expect(await value()).toBe("live_key");
    // The client itself would wait for 2 s and ask again, and a function reads three secrets one after the other.
    expect(state.requests).toHaveLength(2);
  });

  test("refetch throws, and a cached value or absence stays", async () => {
    for (const cached of ["live_key", undefined]) {
      const { value, refetch, state, clock } = aSecret(cached);
      await value();
      state.failure = "unavailable";
      await expect(refetch()).rejects.toThrow("unavailable");
      clock.nowMs = NOON_MS + 24 * 3_600_000;
      expect(await value()).toBe(cached);
    }
  });
});

test("100 concurrent uses share one fetch; its failure rejects them all and is not cached", async () => {
  const { value, refetch, state } = aSecret("live_key");
  state.failure = "unavailable";
  const failed = await Promise.allSettled(Array.from({ length: 50 }, () => value()));
  expect(failed.every(({ status }) => status === "rejected")).toBe(true);
  expect(state.requests).toHaveLength(1);
  delete state.failure;
  const values = await Promise.all([...Array.from({ length: 50 }, () => value()), refetch()]);
  expect(new Set(values)).toEqual(new Set(["live_key"]));
  expect(state.requests).toHaveLength(2);
});

test("an answer that arrives late, as after a frozen invocation, is used for 5 minutes from its request", async () => {
  const { value, refetch, state, clock } = aSecret("live_old");
  await value();
  const { promise, resolve: release } = Promise.withResolvers<void>();
  state.released = promise;
  clock.nowMs = NOON_MS + FIVE_MINUTES_MS;
  expect(await value()).toBe("live_old");
  delete state.released;
  state.value = "live_new";
  const joined = refetch();
  clock.nowMs += 3_600_000;
  release();
  expect(await joined).toBe("live_old");
  expect(await value()).toBe("live_new");
  expect(state.requests).toHaveLength(3);
});

test("a fetch that never ends, as after a frozen invocation, is replaced by another one after 3 s", async () => {
  const { value, state } = aSecret("live_key");
  state.failure = "hangs";
  void value();
  delete state.failure;
  // Later than the two stop waiting for the first one.
  state.released = sleep(3_100);
  const begun = performance.now();
  expect(await Promise.all([value(), value()])).toEqual(["live_key", "live_key"]);
  expect(performance.now() - begun).toBeGreaterThan(2_900);
  expect(state.requests).toHaveLength(2);
});
