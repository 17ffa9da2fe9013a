import { expect, test } from "vitest";
import type { SecretOutput } from "../../../../shared/platform/aws/services.ts";
import type { SecretsClient } from "../../../../shared/platform/aws-clients.ts";
import { SECRET_CACHE_MS, secret } from "../../../../shared/platform/secrets.ts";
import { NOON_MS } from "../../../builders/noon.ts";

type Version = { readonly value: string; readonly createdMs: number };

/** A secret with these versions, of which one may be absent. */
const clientOf = (versions: { readonly AWSCURRENT?: Version; readonly AWSPREVIOUS?: Version }): SecretsClient => ({
  getSecretValue: async ({ VersionStage }) => {
    const version = VersionStage === "AWSPREVIOUS" ? versions.AWSPREVIOUS : versions.AWSCURRENT;
    if (version === undefined) throw Object.assign(new Error("none"), { name: "ResourceNotFoundException" });
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
  nowMs += SECRET_CACHE_MS - 1;
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
