import { describe, expect, test } from "vitest";
import { type KeyedHashes, loadKeyedHashes } from "../../../../shared/platform/keyed-hashes.ts";
import type { Secret } from "../../../../shared/platform/secrets.ts";

const KEY = "0123456789abcdef0123456789abcdef";
const order = { accountId: "acc_1", mode: "live", callerReference: "order-1" } as const;

const aSecret = (value: string | undefined): Secret => ({ value: async () => value, refetch: async () => value });
const keyedHashesWith = (key: string): Promise<KeyedHashes> => loadKeyedHashes(aSecret(key))();

describe("transactionId", () => {
  test("an id never changes between versions: another value would let used references be used again", async () => {
    // HMAC-SHA256 over "2:id5:acc_14:live7:order-1", its first 16 bytes in Crockford's base 32; made with Python.
    expect((await keyedHashesWith(KEY)).transactionId(order)).toBe("0VEA24DBDGGQ5YDBMDQNS99Q32");
  });

  test("an id is the same in another process with the same key, and differs with another key", async () => {
    const id = (await keyedHashesWith(KEY)).transactionId(order);
    expect((await keyedHashesWith(KEY)).transactionId({ ...order })).toBe(id);
    expect((await keyedHashesWith(KEY.toUpperCase())).transactionId(order)).not.toBe(id);
  });

  test("ids differ by account, mode and reference, and references are case-sensitive", async () => {
    const { transactionId } = await keyedHashesWith(KEY);
    const ids = [
      transactionId(order),
      transactionId({ ...order, accountId: "acc_2" }),
      transactionId({ ...order, mode: "test" }),
      transactionId({ ...order, callerReference: "order-2" }),
      transactionId({ ...order, callerReference: "ORDER-1" }),
    ];
    expect(new Set(ids).size).toBe(5);
  });

  test("ids differ if a character moves from one field to the next", async () => {
    const { transactionId } = await keyedHashesWith(KEY);
    const ids = [
      transactionId({ accountId: "acc_1", mode: "live", callerReference: "1order" }),
      transactionId({ accountId: "acc_1live", mode: "live", callerReference: "1order" }),
      transactionId({ accountId: "acc_", mode: "live", callerReference: "11order" }),
      transactionId({ accountId: "acc_1", mode: "live", callerReference: "4:live1order" }),
      transactionId({ accountId: "acc_14:live", mode: "live", callerReference: "1order" }),
    ];
    expect(new Set(ids).size).toBe(5);
  });

  test("500 ids have 26 characters of Crockford's Base32, without I, L, O and U", async () => {
    const { transactionId } = await keyedHashesWith(KEY);
    const ids = Array.from({ length: 500 }, (_, index) =>
      transactionId({ ...order, callerReference: `order-${index}` }),
    );
    expect(ids.filter((text) => /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(text))).toHaveLength(500);
    expect(new Set(ids).size).toBe(500);
  });

  test("orders without a reference have random ids: 100 orders, 100 ids of 26 characters", async () => {
    const { transactionId } = await keyedHashesWith(KEY);
    const ids = Array.from({ length: 100 }, () => transactionId({ accountId: "acc_1", mode: "live" }));
    expect(new Set(ids).size).toBe(100);
    expect(ids.every((text) => /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(text))).toBe(true);
  });
});

test("a message's MAC differs with other fields, another key, and another purpose of the same key", async () => {
  const { messageMac, valueHash } = await keyedHashesWith(KEY);
  const { messageMac: otherKey } = await keyedHashesWith(KEY.toUpperCase());
  const macs = [messageMac(["a", "bc"]), messageMac(["ab", "c"]), otherKey(["a", "bc"]), valueHash("a", "bc")];
  expect(new Set(macs).size).toBe(4);
  expect(messageMac(["a", "bc"])).toBe(macs[0]);
});

describe("fingerprint", () => {
  const fields = ["data", "1", "101", "08031234567"];

  test("a fingerprint never changes between versions: another value would turn replays into conflicts", async () => {
    // HMAC-SHA256 over "5:order4:data1:13:10111:08031234567", its first 16 bytes in base64url; made with Python.
    expect((await keyedHashesWith(KEY)).fingerprint(fields)).toBe("RD242vvwdNI771xahAljyw");
  });

  test("fingerprints differ by each field, the order of fields and the border between them", async () => {
    const { fingerprint } = await keyedHashesWith(KEY);
    const prints = [
      fingerprint(fields),
      fingerprint(["airtime", "1", "101", "08031234567"]),
      fingerprint(["data", "1", "101", "08031234568"]),
      fingerprint(["data", "101", "1", "08031234567"]),
      fingerprint(["data", "11", "01", "08031234567"]),
      fingerprint(["data", "1", "101", "08031234567", ""]),
    ];
    expect(new Set(prints).size).toBe(6);
  });

  test("a fingerprint differs from the id of an order with the same fields", async () => {
    const { transactionId, fingerprint } = await keyedHashesWith(KEY);
    expect(fingerprint(["acc_1", "live", "order-1"])).not.toBe(transactionId(order));
  });
});

describe("valueHash", () => {
  test("a value's hash never changes between versions: another one would match no stored event", async () => {
    // HMAC-SHA256 over "5:value12:phone_number11:08031234567" in base64url; made with Python.
    expect((await keyedHashesWith(KEY)).valueHash("phone_number", "08031234567")).toBe(
      "4aHyeWtLz9Bqs5B2lrEmu0FLId4iHcei-j0zLqZ8ZSQ",
    );
  });

  test("hashes differ by value and by kind of value", async () => {
    const { valueHash } = await keyedHashesWith(KEY);
    const kept = [valueHash("recipient", "1"), valueHash("phone_number", "1"), valueHash("recipient", "2")];
    expect(new Set(kept).size).toBe(3);
  });
});

describe("the key of the hashes", () => {
  test.for([
    ["absent", undefined],
    ["of 31 characters", KEY.slice(1)],
  ] as const)("a key that is %s is refused with an error that says so", async ([, value]) => {
    await expect(loadKeyedHashes(aSecret(value))()).rejects.toThrow("reference key");
  });

  test("the key is read once in a process, even if it is rotated by mistake", async () => {
    const values = [KEY, KEY.toUpperCase()];
    const keyedHashes = loadKeyedHashes({ ...aSecret(undefined), value: async () => values.shift() });
    const first = (await keyedHashes()).transactionId(order);
    expect((await keyedHashes()).transactionId(order)).toBe(first);
    expect(values).toEqual([KEY.toUpperCase()]);
  });

  test("an absent key is read again", async () => {
    const values = [undefined, KEY];
    const keyedHashes = loadKeyedHashes({ ...aSecret(undefined), value: async () => values.shift() });
    await expect(keyedHashes()).rejects.toThrow();
    expect((await keyedHashes()).transactionId(order)).toHaveLength(26);
  });
});
