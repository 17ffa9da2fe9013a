import { createServer } from "node:http";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { describe, expect, onTestFinished, test } from "vitest";
import { secret } from "../../shared/platform/secrets.ts";

const NOON = Date.parse("2026-11-21T12:00:00.000Z");
const FIVE_MINUTES_MS = 300_000;

/** What Secrets Manager does when it is asked: gives the value, has none, or is not to be had. */
type Vault = { value: string | undefined; trouble: "away" | "denied" | undefined; requests: unknown[] };

/** A Secrets Manager that speaks its own protocol, one secret in it, and a clock that stands still until it is moved. */
const aSecret = async (value: string | undefined) => {
  const vault: Vault = { value, trouble: undefined, requests: [] };
  const clock = { now_ms: NOON };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    vault.requests.push({ target: request.headers["x-amz-target"], ...JSON.parse(body) });
    const answer = (status: number, content: object) =>
      response.writeHead(status, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(content));
    if (vault.trouble === "away") return answer(500, { __type: "InternalServiceError", Message: "away" });
    if (vault.trouble === "denied") return answer(400, { __type: "AccessDeniedException", Message: "denied" });
    if (vault.value === undefined) return answer(400, { __type: "ResourceNotFoundException", Message: "no version" });
    return answer(200, { Name: "upstream-key", SecretString: vault.value });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const client = new SecretsManagerClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    maxAttempts: 1,
  });
  onTestFinished(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  return { ...secret(client, "upstream-key", () => clock.now_ms), vault, clock };
};

describe("within 5 minutes", () => {
  test("100 uses ask Secrets Manager once, for this secret", async () => {
    const { value, vault } = await aSecret("live_key");
    for (let use = 0; use < 100; use += 1) expect(await value()).toBe("live_key");
    expect(vault.requests).toEqual([
      { target: "secretsmanager.GetSecretValue", SecretId: "upstream-key", VersionStage: "AWSCURRENT" },
    ]);
  });

  test("a rotated value is not seen; at 5 minutes it is", async () => {
    const { value, vault, clock } = await aSecret("live_old");
    await value();
    vault.value = "live_new";
    clock.now_ms = NOON + FIVE_MINUTES_MS - 1;
    expect(await value()).toBe("live_old");
    clock.now_ms = NOON + FIVE_MINUTES_MS;
    expect(await value()).toBe("live_new");
    expect(vault.requests).toHaveLength(2);
  });
});

describe("refetch", () => {
  test("sees a rotated value at once, and every use after it does too, without asking again", async () => {
    const { value, refetch, vault } = await aSecret("live_old");
    await value();
    vault.value = "live_new";
    expect(await refetch()).toBe("live_new");
    expect(await value()).toBe("live_new");
    expect(vault.requests).toHaveLength(2);
  });

  test("throws while Secrets Manager is away, and the known value stays", async () => {
    const { value, refetch, vault } = await aSecret("live_key");
    await value();
    vault.trouble = "away";
    await expect(refetch()).rejects.toThrow();
    expect(await value()).toBe("live_key");
  });
});

describe("an absent secret", () => {
  test("is undefined, and is asked for each time, so that the first use after it was filled works", async () => {
    const { value, vault } = await aSecret(undefined);
    expect([await value(), await value()]).toEqual([undefined, undefined]);
    vault.value = "live_key";
    expect(await value()).toBe("live_key");
    expect(vault.requests).toHaveLength(3);
  });

  test.for(["", "  ", "\n"])("is also one that holds %j", async (empty) => {
    const { value } = await aSecret(empty);
    expect(await value()).toBeUndefined();
  });

  test("that was filled before is absent again, once its 5 minutes are over", async () => {
    const { value, vault, clock } = await aSecret("live_key");
    await value();
    vault.value = undefined;
    clock.now_ms = NOON + FIVE_MINUTES_MS;
    expect(await value()).toBeUndefined();
  });
});

test("blanks and line breaks around a value are not part of it", async () => {
  const { value } = await aSecret("  live_key\n");
  expect(await value()).toBe("live_key");
});

describe("while Secrets Manager cannot be asked", () => {
  test.for(["away", "denied"] as const)(
    "(%s) a known value is used for a day, and the new one afterwards",
    async (trouble) => {
      const { value, vault, clock } = await aSecret("live_old");
      await value();
      vault.trouble = trouble;
      vault.value = "live_new";
      clock.now_ms = NOON + 24 * 3_600_000;
      expect(await value()).toBe("live_old");
      vault.trouble = undefined;
      expect(await value()).toBe("live_new");
    },
  );

  test.for(["away", "denied"] as const)("(%s) nothing is made up where no value is known", async (trouble) => {
    const { value, vault } = await aSecret("live_key");
    vault.trouble = trouble;
    await expect(value()).rejects.toThrow();
    vault.trouble = undefined;
    expect(await value()).toBe("live_key");
  });
});
