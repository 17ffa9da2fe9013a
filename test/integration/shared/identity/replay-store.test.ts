import { describe, expect, test } from "vitest";
import * as z from "#zod";
import { replayStore } from "../../../../shared/identity/replay-store.ts";
import { localTableNames } from "../../../../tools/local/tables.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { emulatorClient, freshTables } from "../../../builders/dynamodb/tables.ts";
import { aSecret } from "../../../builders/ledger/secrets.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import {
  FUNDS,
  finding,
  identityServiceForTests,
  pkOf,
  VERIFY_NIN,
} from "../../../builders/service/identity-service.ts";
import { anOrder, BUY_DATA } from "../../../builders/service/service.ts";
import { aNinCheck, aRetrieval, checkOf } from "../../../builders/upstream/identity.ts";

/** Goal: a reference is one check and one charge, however often it is sent. */
const service = await identityServiceForTests();

describe("replays", () => {
  const firstCheck = async (changes: Readonly<Record<string, unknown>> = {}) => {
    const caller = await service.newCaller({ naira: FUNDS });
    const body = aNinCheck({ reference: "again", ...changes });
    const send = (also: Readonly<Record<string, unknown>> = {}) =>
      service.call("POST", VERIFY_NIN, { key: caller.key, body: { ...body, ...also } });
    return { caller, send, answer: await send() };
  };

  test("another mode, number or kind of request under the same reference is 422 on reference", async () => {
    const { caller, send } = await firstCheck();
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
      expect(other.headers.get("x-transaction-reference")).toBeNull();
      expect(Object.keys(other.body.errors ?? {})).toEqual(["reference"]);
    }
    expect(await caller.balance()).toBe(FUNDS - 150);
  });

  test("a replay while the first request is in flight is 200 processing with a null result, and is not charged", async () => {
    const caller = await service.newCaller({ naira: FUNDS });
    service.simulator.state.faults.add({ kind: "delay", path: VERIFY_NIN, delay_ms: 3_000, times: 1 });
    const request = { key: caller.key, body: aNinCheck({ reference: "twins" }) };
    const pending = service.call("POST", VERIFY_NIN, request);
    await expect.poll(() => service.rowUnder(caller.key, "twins")).toBeDefined();
    const between = await service.call("POST", VERIFY_NIN, request);
    expect(between.status).toBe(200);
    expect(checkOf(between)).toMatchObject({ transaction: { status: "processing" }, result: null });
    expect(checkOf(await pending).transaction.status).toBe("success");
    expect(await caller.balance()).toBe(FUNDS - 150);
  });

  test("after 10 minutes a replay is 422 on reference, is not charged and not sent upstream", async () => {
    const { caller, send, answer } = await firstCheck();
    const before = service.requestCount();
    const pk = `replay#${pkOf(answer)}`;
    const expiry = z.object({ expires_at_s: z.number() }).parse(await service.itemOf("cache", pk));
    expect(expiry.expires_at_s * 1_000 - Date.now()).toBeGreaterThan(590_000);
    expect(expiry.expires_at_s * 1_000 - Date.now()).toBeLessThanOrEqual(600_000);
    const cache = { db: service.db, table: localTableNames.cache };
    await changeItem(cache, pk, { expires_at_s: Math.floor(Date.now() / 1_000) - 1 });
    const replay = await send();
    expect(replay.status).toBe(422);
    expect(Object.keys(replay.body.errors ?? {})).toEqual(["reference"]);
    expect(replay.body.message).toContain("was charged");
    expect(replay.headers.get("x-transaction-reference")).toBe(checkOf(answer).transaction.reference);
    expect(replay.headers.get("idempotent-replayed")).toBe("true");
    expect(service.requestCount()).toBe(before);
    expect(await caller.balance()).toBe(FUNDS - 150);
  });

  test("a stored result is encrypted, and cannot be unsealed for another transaction", async () => {
    const { answer } = await firstCheck({ mode: "advanced" });
    const stored = z
      .object({ pk: z.string(), sealed: z.instanceof(Uint8Array), expires_at_s: z.number() })
      .parse(await service.replayItemOf(answer));
    const { result } = checkOf(answer);
    const text = `${Buffer.from(stored.sealed).toString("latin1")} ${stored.pk}`;
    const texts = Object.values(result ?? {}).filter((value) => typeof value === "string" && value.length > 2);
    expect(texts.length).toBeGreaterThan(10);
    for (const value of texts) expect(text).not.toContain(value);

    const other = await firstCheck();
    await service.db.put({ TableName: localTableNames.cache, Item: { ...stored, pk: `replay#${pkOf(other.answer)}` } });
    expect((await other.send()).status).toBe(422);
  });

  test("without a reference the result is not stored", async () => {
    const { answer } = await firstCheck({ reference: undefined });
    expect(answer.status).toBe(200);
    expect(await service.replayItemOf(answer)).toBeUndefined();
    const withReference = await firstCheck({ reference: "stored" });
    expect(await service.replayItemOf(withReference.answer)).toBeDefined();
  });

  test("a result of 300 KB is stored for replays with all its fields, one of 360 KB is only returned", async () => {
    const record = (bytes: number) => finding({ first_name: "Ngozi", religion: "none", photo: "A".repeat(bytes) });
    const small = await service.verifyUnder(record(300 * 1_024), { mode: "advanced", reference: "small" });
    expect((await small.replay()).body).toEqual(small.answer.body);
    const large = await service.verifyUnder(record(360 * 1_024), { mode: "advanced", reference: "large" });
    expect(large.answer.status).toBe(200);
    expect(await service.replayItemOf(large.answer)).toBeUndefined();
    expect((await large.replay()).status).toBe(422);
    expect(await large.caller.balance()).toBe(FUNDS - 250);
  });

  test("a cache table that cannot be written does not fail the check", async () => {
    service.proxy.fault = ({ operation, body }) =>
      operation === "PutItem" && body.includes("replay#") ? "never_arrives" : undefined;
    const { caller, answer, send } = await firstCheck();
    service.proxy.fault = () => undefined;
    expect(answer.status).toBe(200);
    expect(checkOf(answer).result).not.toBeNull();
    expect(await caller.balance()).toBe(FUNDS - 150);
    expect((await send()).status).toBe(422);
  });

  test("a replay whose result cannot be read is a 500 without X-Error-Code, because the check was charged", async () => {
    const { caller, answer, send } = await firstCheck();
    service.proxy.fault = ({ operation, body }) =>
      operation === "GetItem" && body.includes("replay#") ? "never_arrives" : undefined;
    const replay = await fetch(`${service.baseUrl}${VERIFY_NIN}`, {
      method: "POST",
      headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/json" },
      body: JSON.stringify(aNinCheck({ reference: "again" })),
    });
    expect([replay.status, replay.headers.get("x-error-code")]).toEqual([500, null]);
    service.proxy.fault = () => undefined;
    expect((await send()).body).toEqual(answer.body);
  });
});

test("a result is found by its own transaction only, and not by one that was written again under its key", async () => {
  const sealingKey = aSecret("a sealing key of thirty-two or more characters");
  const { db, cacheTable } = await freshTables();
  const replays = replayStore(db, cacheTable, sealingKey, () => NOON_MS);
  const transaction = aTransaction();
  await replays.store(transaction, { first_name: "Ngozi" }, 5_000);
  expect(await replays.find(transaction)).toEqual({ first_name: "Ngozi" });
  expect(await replays.find({ ...transaction, write_token: "another" })).toBeUndefined();
});

test("a result whose sealing key cannot be read is not stored, and the write gives up within its limit", async () => {
  const never = () => new Promise<never>(() => undefined);
  const replays = replayStore(emulatorClient(), "no-table", { value: never, refetch: never }, Date.now);
  await expect(replays.store(aTransaction(), { first_name: "Ngozi" }, 200)).rejects.toThrow();
});
