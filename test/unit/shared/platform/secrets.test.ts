import { expect, test } from "vitest";
import type { SecretsClient } from "../../../../shared/platform/aws-clients.ts";
import { secret } from "../../../../shared/platform/secrets.ts";
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
