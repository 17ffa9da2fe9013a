import { createServer } from "node:http";
import { SecretsManager } from "@aws-sdk/client-secrets-manager";
import { describe, expect, onTestFinished, test } from "vitest";
import { secret } from "../../../../shared/platform/secrets.ts";
import { listenOnLoopback } from "../../../../tools/local/loopback.ts";
import { eventually } from "../../../builders/eventually.ts";
import { NOON_MS } from "../../../builders/noon.ts";

const FIVE_MINUTES_MS = 300_000;

/** The state of the stub: its value, how it fails if it does, and the requests it got. */
type StubState = {
  value: string | undefined;
  /** Answers wait for this. */
  released?: Promise<void>;
  failure: "unavailable" | "denied" | "hangs" | undefined;
  requests: unknown[];
};

/** A stub of Secrets Manager with one secret, and a clock that only the test moves. */
const aSecret = async (value: string | undefined) => {
  const stub: StubState = { value, failure: undefined, requests: [] };
  const clock = { nowMs: NOON_MS };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    stub.requests.push({ target: request.headers["x-amz-target"], ...JSON.parse(body) });
    const { value: stored } = stub;
    await stub.released;
    const answer = (status: number, content: object) =>
      response.writeHead(status, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(content));
    if (stub.failure === "hangs") return;
    if (stub.failure === "unavailable") return answer(500, { __type: "InternalServiceError", Message: "unavailable" });
    if (stub.failure === "denied") return answer(400, { __type: "AccessDeniedException", Message: "denied" });
    if (stored === undefined) return answer(400, { __type: "ResourceNotFoundException", Message: "no version" });
    return answer(200, { Name: "upstream-key", SecretString: stored });
  });
  const port = await listenOnLoopback(server);
  const client = new SecretsManager({
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
  return { ...secret(client, "upstream-key", () => clock.nowMs), stub, clock };
};

describe("a cached secret", () => {
  test("100 uses within 5 minutes fetch the secret once", async () => {
    const { value, stub } = await aSecret("live_key");
    for (let use = 0; use < 100; use += 1) expect(await value()).toBe("live_key");
    expect(stub.requests).toEqual([
      { target: "secretsmanager.GetSecretValue", SecretId: "upstream-key", VersionStage: "AWSCURRENT" },
    ]);
  });

  test("a rotated value is used after 5 minutes, and not before", async () => {
    const { value, stub, clock } = await aSecret("live_old");
    await value();
    stub.value = "live_new";
    clock.nowMs = NOON_MS + FIVE_MINUTES_MS - 1;
    expect(await value()).toBe("live_old");
    clock.nowMs = NOON_MS + FIVE_MINUTES_MS;
    expect(await value()).toBe("live_new");
    expect(stub.requests).toHaveLength(2);
  });
});

describe("refetch", () => {
  test("refetch returns a rotated value at once, and later uses have it without another fetch", async () => {
    const { value, refetch, stub } = await aSecret("live_old");
    await value();
    stub.value = "live_new";
    expect(await refetch()).toBe("live_new");
    expect(await value()).toBe("live_new");
    expect(stub.requests).toHaveLength(2);
  });

  test("refetch throws during an outage, and the cached value stays", async () => {
    const { value, refetch, stub } = await aSecret("live_key");
    await value();
    stub.failure = "unavailable";
    await expect(refetch()).rejects.toThrow();
    expect(await value()).toBe("live_key");
  });
});

describe("an absent secret", () => {
  test("an absent secret is fetched once in 60 s, and a first value is used after them", async () => {
    const { value, stub, clock } = await aSecret(undefined);
    for (let use = 0; use < 100; use += 1) expect(await value()).toBeUndefined();
    stub.value = "live_key";
    clock.nowMs = NOON_MS + 59_999;
    expect(await value()).toBeUndefined();
    expect(stub.requests).toHaveLength(1);
    clock.nowMs = NOON_MS + 60_000;
    expect(await value()).toBe("live_key");
    expect(stub.requests).toHaveLength(2);
  });

  test("refetch returns the first value of an absent secret at once", async () => {
    const { value, refetch, stub } = await aSecret(undefined);
    await value();
    stub.value = "live_key";
    expect([await refetch(), await value()]).toEqual(["live_key", "live_key"]);
  });

  test.for([
    ["", undefined],
    ["  ", undefined],
    ["\n", undefined],
    ["  live_key\n", "live_key"],
  ] as const)("a secret that holds %j is %s", async ([stored, used]) => {
    const { value } = await aSecret(stored);
    expect(await value()).toBe(used);
  });

  test("a deleted secret is absent after its 5 minutes", async () => {
    const { value, stub, clock } = await aSecret("live_key");
    await value();
    stub.value = undefined;
    clock.nowMs = NOON_MS + FIVE_MINUTES_MS;
    expect(await value()).toBeUndefined();
  });
});

describe("an outage of Secrets Manager", () => {
  test.for(["unavailable", "denied"] as const)(
    "during an outage (%s) the cached value is used for a day, and the new one 5 s after the last failed fetch",
    async (failure) => {
      const { value, stub, clock } = await aSecret("live_old");
      await value();
      stub.failure = failure;
      stub.value = "live_new";
      clock.nowMs = NOON_MS + 24 * 3_600_000;
      for (let use = 0; use < 100; use += 1) expect(await value()).toBe("live_old");
      expect(stub.requests).toHaveLength(2);
      stub.failure = undefined;
      clock.nowMs += 5_000;
      expect(await value()).toBe("live_new");
    },
  );

  test("while Secrets Manager answers nothing the cached value is used, after a second once in 5 s", async () => {
    const { value, stub, clock } = await aSecret("live_key");
    await value();
    stub.failure = "hangs";
    clock.nowMs = NOON_MS + FIVE_MINUTES_MS;
    for (let use = 0; use < 100; use += 1) expect(await value()).toBe("live_key");
    // The client itself would wait for 2 s and ask again, and a function reads three secrets one after the other.
    expect(stub.requests).toHaveLength(2);
  });

  test.for(["unavailable", "denied"] as const)("during an outage (%s) a cached absence stays", async (failure) => {
    const { value, stub, clock } = await aSecret(undefined);
    await value();
    stub.failure = failure;
    clock.nowMs = NOON_MS + 24 * 3_600_000;
    expect(await value()).toBeUndefined();
  });
});

test.for(["unavailable", "denied"] as const)(
  "100 concurrent uses share one fetch; its failure (%s) rejects them all and is not cached",
  async (failure) => {
    const { value, refetch, stub } = await aSecret("live_key");
    stub.failure = failure;
    const failed = await Promise.allSettled(Array.from({ length: 50 }, () => value()));
    expect(failed.every(({ status }) => status === "rejected")).toBe(true);
    expect(stub.requests).toHaveLength(1);
    stub.failure = undefined;
    const values = await Promise.all([...Array.from({ length: 50 }, () => value()), refetch()]);
    expect(new Set(values)).toEqual(new Set(["live_key"]));
    expect(stub.requests).toHaveLength(2);
  },
);

describe("an answer that arrives late, as after a frozen invocation", () => {
  const aLateAnswer = async () => {
    const late = await aSecret("live_old");
    await late.value();
    const { promise, resolve } = Promise.withResolvers<void>();
    late.stub.released = promise;
    late.clock.nowMs = NOON_MS + FIVE_MINUTES_MS;
    expect(await late.value()).toBe("live_old");
    delete late.stub.released;
    late.stub.value = "live_new";
    return { ...late, release: resolve };
  };

  test("is as old as its request: a rotated value is used after 5 minutes from then", async () => {
    const { value, refetch, stub, clock, release } = await aLateAnswer();
    const joined = refetch();
    clock.nowMs += 3_600_000;
    release();
    expect(await joined).toBe("live_old");
    expect(await value()).toBe("live_new");
    expect(stub.requests).toHaveLength(3);
  });

  test("does not replace the value of a later request", async () => {
    const { value, refetch, stub, clock, release } = await aLateAnswer();
    clock.nowMs += 3_600_000;
    expect(await refetch()).toBe("live_new");
    release();
    await new Promise((answered) => setTimeout(answered, 200));
    expect(await value()).toBe("live_new");
    expect(stub.requests).toHaveLength(3);
  });
});

test("a fetch that never ends, as after a frozen invocation, is replaced by another one after 3 s", async () => {
  const { value, stub } = await aSecret("live_key");
  stub.failure = "hangs";
  void value().catch(() => undefined);
  await eventually(() => expect(stub.requests).toHaveLength(1));
  stub.failure = undefined;
  const begun = performance.now();
  expect(await Promise.all([value(), value()])).toEqual(["live_key", "live_key"]);
  expect(performance.now() - begun).toBeGreaterThan(2_900);
  expect(stub.requests).toHaveLength(2);
});
