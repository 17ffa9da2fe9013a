import { PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { tableNames } from "../../../../tools/local/tables.ts";
import { aNinCheck, aRetrieval, checkOf, identityProducts } from "../../../builders/identity.ts";
import {
  FUNDS,
  finding,
  type IdentityService,
  pkOf,
  startIdentityService,
  VERIFY_NIN,
} from "../../../builders/identity-service.ts";
import { anOrder, BUY_DATA } from "../../../builders/service.ts";

/** Goal: one reference is one search and one charge, however often it is sent. */
let service: IdentityService;
beforeAll(async () => {
  service = await startIdentityService();
});
afterEach(() => service.calmDown());
afterAll(() => service.stop());

describe("the same reference again", () => {
  const first = async (changes: Readonly<Record<string, unknown>> = {}) => {
    const caller = await service.newCaller({ naira: FUNDS });
    const body = aNinCheck({ reference: "again", ...changes });
    const send = (also: Readonly<Record<string, unknown>> = {}) =>
      service.call("POST", VERIFY_NIN, { key: caller.key, body: { ...body, ...also } });
    return { caller, send, answer: await send() };
  };

  test.each(identityProducts)(
    "$name gives the same result, marked as replayed, once charged and once asked",
    async (product) => {
      const caller = await service.newCaller({ naira: FUNDS });
      const request = { key: caller.key, body: { ...product.body, reference: "again" } };
      const one = await service.call("POST", product.path, request);
      const asked = service.requestCount();
      const two = await service.call("POST", product.path, request);
      expect(two.status).toBe(200);
      expect(two.body).toEqual(one.body);
      expect(one.headers.get("idempotent-replayed")).toBeNull();
      expect(two.headers.get("idempotent-replayed")).toBe("true");
      expect(service.requestCount()).toBe(asked);
      expect(await caller.balance()).toBe(FUNDS - product.naira);
    },
  );

  test("fields beyond ours are in the repeat as well", async () => {
    const { answer, repeat } = await service.verifyUnder(finding({ first_name: "Ngozi", religion: "none" }), {
      mode: "advanced",
      reference: "beyond",
    });
    expect((await repeat()).body).toEqual(answer.body);
  });

  test("another mode, another number, or another kind of request under it is 422 on reference", async () => {
    const { caller, send } = await first();
    const others = [
      await send({ mode: "advanced" }),
      await send({ nin: "12345678909" }),
      await service.call("POST", BUY_DATA, { key: caller.key, body: anOrder({ reference: "again" }) }),
      await service.call("POST", "/identity/nin/retrieve", {
        key: caller.key,
        body: aRetrieval({ reference: "again" }),
      }),
    ];
    for (const other of others) {
      expect(other.status).toBe(422);
      expect(other.headers.get("x-error-code")).toBe("reference_reused");
      expect(Object.keys(other.body.errors ?? {})).toEqual(["reference"]);
    }
    expect(await caller.balance()).toBe(FUNDS - 150);
  });

  test("a basic request under the reference of an advanced one is another request, although it asks for less", async () => {
    const { caller, send } = await first({ mode: "advanced" });
    const other = await send({ mode: "basic" });
    expect(other.status).toBe(422);
    expect(other.headers.get("x-error-code")).toBe("reference_reused");
    expect(await caller.balance()).toBe(FUNDS - 250);
  });

  test("in flight it is 200 processing with a null result, and not charged twice", async () => {
    const caller = await service.newCaller({ naira: FUNDS });
    service.simulator.state.faults.add({ kind: "delay", path: VERIFY_NIN, delay_ms: 500, times: 1 });
    const request = { key: caller.key, body: aNinCheck({ reference: "twins" }) };
    const pending = service.call("POST", VERIFY_NIN, request);
    await expect.poll(() => service.rowUnder(caller.key, "twins"), { timeout: 450, interval: 20 }).toBeDefined();
    const meanwhile = await service.call("POST", VERIFY_NIN, request);
    expect(meanwhile.status).toBe(200);
    expect(checkOf(meanwhile)).toMatchObject({ transaction: { status: "processing" }, result: null });
    expect(checkOf(await pending).transaction.status).toBe("success");
    expect(await caller.balance()).toBe(FUNDS - 150);
  });

  test("10 at once: one is asked for and charged", async () => {
    const caller = await service.newCaller({ naira: FUNDS });
    const before = service.requestCount();
    const request = { key: caller.key, body: aNinCheck({ reference: "ten" }) };
    const answers = await Promise.all(Array.from({ length: 10 }, () => service.call("POST", VERIFY_NIN, request)));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(service.requestCount()).toBe(before + 1);
    expect(await caller.balance()).toBe(FUNDS - 150);
  });

  test("10 minutes later the result is gone: 422 on reference, nothing charged, nothing asked", async () => {
    const { caller, send, answer } = await first();
    const before = service.requestCount();
    const key = { pk: `replay#${pkOf(answer)}` };
    const expiry = z.object({ expires_at_s: z.number() }).parse(await service.itemOf("cache", key.pk));
    expect(expiry.expires_at_s * 1_000 - Date.now()).toBeGreaterThan(590_000);
    expect(expiry.expires_at_s * 1_000 - Date.now()).toBeLessThanOrEqual(600_000);
    await service.db.send(
      new UpdateCommand({
        TableName: tableNames.cache,
        Key: key,
        UpdateExpression: "SET expires_at_s = :past",
        ExpressionAttributeValues: { ":past": Math.floor(Date.now() / 1_000) - 1 },
      }),
    );
    const late = await send();
    expect(late.status).toBe(422);
    expect(Object.keys(late.body.errors ?? {})).toEqual(["reference"]);
    expect(late.headers.get("x-transaction-reference")).toBe(checkOf(answer).transaction.reference);
    expect(service.requestCount()).toBe(before);
    expect(await caller.balance()).toBe(FUNDS - 150);
  });

  test("what is kept for it cannot be read, and is of no use under another transaction", async () => {
    const { answer } = await first({ mode: "advanced" });
    const kept = z
      .object({ pk: z.string(), sealed: z.instanceof(Uint8Array), expires_at_s: z.number() })
      .parse(await service.replayItemOf(answer));
    const { result } = checkOf(answer);
    const text = `${Buffer.from(kept.sealed).toString("latin1")} ${kept.pk}`;
    const texts = Object.values(result ?? {}).filter((value) => typeof value === "string" && value.length > 2);
    expect(texts.length).toBeGreaterThan(10);
    for (const value of texts) expect(text).not.toContain(value);

    const other = await first();
    await service.db.send(
      new PutCommand({ TableName: tableNames.cache, Item: { ...kept, pk: `replay#${pkOf(other.answer)}` } }),
    );
    expect((await other.send()).status).toBe(422);
  });

  test("without a reference nothing is kept", async () => {
    const { answer } = await first({ reference: undefined });
    expect(answer.status).toBe(200);
    expect(await service.replayItemOf(answer)).toBeUndefined();
    const named = await first({ reference: "kept" });
    expect(await service.replayItemOf(named.answer)).toBeDefined();
  });

  test("of 300 KB is kept; of 360 KB is answered once and not kept", async () => {
    const record = (bytes: number) => finding({ first_name: "Ngozi", photo: "A".repeat(bytes) });
    const small = await service.verifyUnder(record(300 * 1_024), { mode: "advanced", reference: "small" });
    expect((await small.repeat()).body).toEqual(small.answer.body);
    const large = await service.verifyUnder(record(360 * 1_024), { mode: "advanced", reference: "large" });
    expect(large.answer.status).toBe(200);
    expect(await service.replayItemOf(large.answer)).toBeUndefined();
    expect((await large.repeat()).status).toBe(422);
    expect(await large.caller.balance()).toBe(FUNDS - 250);
  });

  test("a cache table that cannot be written does not fail the first request", async () => {
    service.proxy.fault = ({ operation, body }) =>
      operation === "PutItem" && body.includes("replay#") ? "never_arrives" : undefined;
    const { caller, answer, send } = await first();
    service.proxy.fault = () => undefined;
    expect(answer.status).toBe(200);
    expect(checkOf(answer).result).not.toBeNull();
    expect(await caller.balance()).toBe(FUNDS - 150);
    expect((await send()).status).toBe(422);
  });

  test("while its result cannot be read is no error of ours: the check was charged", async () => {
    const { caller, answer, send } = await first();
    service.proxy.fault = ({ operation, body }) =>
      operation === "GetItem" && body.includes("replay#") ? "never_arrives" : undefined;
    const repeat = await fetch(`${service.baseUrl}${VERIFY_NIN}`, {
      method: "POST",
      headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/json" },
      body: JSON.stringify(aNinCheck({ reference: "again" })),
    });
    expect([repeat.status, repeat.headers.get("x-error-code")]).toEqual([500, null]);
    service.proxy.fault = () => undefined;
    expect((await send()).body).toEqual(answer.body);
  });
});
