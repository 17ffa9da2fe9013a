import { describe, expect, test } from "vitest";
import { type KeyedHashes, loadKeyedHashes } from "../../../../shared/platform/keyed-hashes.ts";
import type { Secret } from "../../../../shared/platform/secrets.ts";

const KEY = "0123456789abcdef0123456789abcdef";
const order = { accountId: "acc_1", mode: "live", reference: "order-1" } as const;

const aSecret = (value: string | undefined): Secret => ({ value: async () => value, refetch: async () => value });
const namingWith = (key: string): Promise<KeyedHashes> => loadKeyedHashes(aSecret(key))();

describe("the id of an order", () => {
  test("is the one that it has always had: another value would let old references be used again", async () => {
    // HMAC-SHA256 over "2:id5:acc_14:live7:order-1", its first 16 bytes in Crockford's base 32; made with Python.
    expect((await namingWith(KEY)).transactionId(order)).toBe("0VEA24DBDGGQ5YDBMDQNS99Q32");
  });

  test("is the same in another process with the same secret, and another with another secret", async () => {
    const id = (await namingWith(KEY)).transactionId(order);
    expect((await namingWith(KEY)).transactionId({ ...order })).toBe(id);
    expect((await namingWith(KEY.toUpperCase())).transactionId(order)).not.toBe(id);
  });

  test("is another for each account, mode and reference, upper and lower case apart", async () => {
    const { transactionId } = await namingWith(KEY);
    const ids = [
      transactionId(order),
      transactionId({ ...order, accountId: "acc_2" }),
      transactionId({ ...order, mode: "test" }),
      transactionId({ ...order, reference: "order-2" }),
      transactionId({ ...order, reference: "ORDER-1" }),
    ];
    expect(new Set(ids).size).toBe(5);
  });

  test("does not mix up where one field ends and the next begins", async () => {
    const { transactionId } = await namingWith(KEY);
    const ids = [
      transactionId({ accountId: "acc_1", mode: "live", reference: "1order" }),
      transactionId({ accountId: "acc_1live", mode: "live", reference: "1order" }),
      transactionId({ accountId: "acc_", mode: "live", reference: "11order" }),
      transactionId({ accountId: "acc_1", mode: "live", reference: "4:live1order" }),
      transactionId({ accountId: "acc_14:live", mode: "live", reference: "1order" }),
    ];
    expect(new Set(ids).size).toBe(5);
  });

  test("has 26 characters of Crockford's alphabet, without I, L, O and U, in 500 of 500 tries", async () => {
    const { transactionId } = await namingWith(KEY);
    const ids = Array.from({ length: 500 }, (_, index) => transactionId({ ...order, reference: `order-${index}` }));
    expect(ids.filter((text) => /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(text))).toHaveLength(500);
    expect(new Set(ids).size).toBe(500);
  });

  test("is random where there is no reference: 100 orders, 100 ids of 26 characters", async () => {
    const { transactionId } = await namingWith(KEY);
    const ids = Array.from({ length: 100 }, () => transactionId({ accountId: "acc_1", mode: "live" }));
    expect(new Set(ids).size).toBe(100);
    expect(ids.every((text) => /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(text))).toBe(true);
  });
});

test("the MAC of a message is another for other fields, another key, and another purpose of the same key", async () => {
  const { messageMac, hashSubject } = await namingWith(KEY);
  const { messageMac: otherKey } = await namingWith(KEY.toUpperCase());
  const macs = [messageMac(["a", "bc"]), messageMac(["ab", "c"]), otherKey(["a", "bc"]), hashSubject("a", "bc")];
  expect(new Set(macs).size).toBe(4);
  expect(messageMac(["a", "bc"])).toBe(macs[0]);
});

describe("the fingerprint of an order", () => {
  const fields = ["data", "1", "101", "08031234567"];

  test("is the one that it has always had: another value would turn repeats into refusals", async () => {
    // HMAC-SHA256 over "5:order4:data1:13:10111:08031234567", its first 16 bytes in base64url; made with Python.
    expect((await namingWith(KEY)).fingerprint(fields)).toBe("RD242vvwdNI771xahAljyw");
  });

  test("changes with each field, with their order and with where one ends", async () => {
    const { fingerprint } = await namingWith(KEY);
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

  test("is not the id of an order with the same fields", async () => {
    const { transactionId, fingerprint } = await namingWith(KEY);
    expect(fingerprint(["acc_1", "live", "order-1"])).not.toBe(transactionId(order));
  });
});

describe("a person's number as it is kept", () => {
  test("is the one that it has always had: another value would forget whose consent was given", async () => {
    // HMAC-SHA256 over "7:subject3:nin11:12345678901" in base64url; made with Python.
    expect((await namingWith(KEY)).hashSubject("nin", "12345678901")).toBe(
      "iF-0wV-vgjhz215wjxFAmLvuEtgdOvnqZ7ZKKtk3bKM",
    );
  });

  test("is another for another number and for another kind of number", async () => {
    const { hashSubject } = await namingWith(KEY);
    const kept = [hashSubject("nin", "1"), hashSubject("bvn", "1"), hashSubject("nin", "2")];
    expect(new Set(kept).size).toBe(3);
  });
});

describe("the secret behind the names", () => {
  test.for([
    ["absent", undefined],
    ["of 31 characters", KEY.slice(1)],
  ] as const)("is refused when it is %s, and the error says so: nothing is named with it", async ([, value]) => {
    await expect(loadKeyedHashes(aSecret(value))()).rejects.toThrow("reference key");
  });

  test("is read once a process, also when it is rotated by mistake", async () => {
    const values = [KEY, KEY.toUpperCase()];
    const keyedHashes = loadKeyedHashes({ ...aSecret(undefined), value: async () => values.shift() });
    const first = (await keyedHashes()).transactionId(order);
    expect((await keyedHashes()).transactionId(order)).toBe(first);
    expect(values).toEqual([KEY.toUpperCase()]);
  });

  test("is asked for again after it was absent", async () => {
    const values = [undefined, KEY];
    const keyedHashes = loadKeyedHashes({ ...aSecret(undefined), value: async () => values.shift() });
    await expect(keyedHashes()).rejects.toThrow();
    expect((await keyedHashes()).transactionId(order)).toHaveLength(26);
  });
});
