import { describe, expect, test } from "vitest";
import { type KeyedHashes, loadKeyedHashes } from "../../../../shared/platform/keyed-hashes.ts";
import { aSecret } from "../../../builders/ledger/secrets.ts";

const KEY = "0123456789abcdef0123456789abcdef";
const order = { accountId: "acc_1", mode: "live", callerReference: "order-1" } as const;

const NOW_MS = Date.parse("2026-11-26T12:00:00.000Z");
/** The line of a version that is used from this many hours after now. */
const line = (hours: number, letter: string): string =>
  `${new Date(NOW_MS + hours * 3_600_000).toISOString()} ${letter.repeat(32)}`;

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
  const { messageMacs, valueHash } = await keyedHashesWith(KEY);
  const { messageMacs: otherKey } = await keyedHashesWith(KEY.toUpperCase());
  const macs = [messageMacs(["a", "bc"]), messageMacs(["ab", "c"]), otherKey(["a", "bc"]), valueHash("a", "bc")];
  expect(new Set(macs.flat()).size).toBe(4);
  expect(messageMacs(["a", "bc"])).toEqual(macs[0]);
});

const fields = ["data", "1", "101", "08031234567"];

test("a fingerprint never changes between versions: another value would turn replays into conflicts", async () => {
  // HMAC-SHA256 over "5:order4:data1:13:10111:08031234567", its first 16 bytes in base64url; made with Python.
  expect((await keyedHashesWith(KEY)).fingerprints(fields)).toEqual(["RD242vvwdNI771xahAljyw"]);
});

test("fingerprints differ by each field, the order of fields and the border between them", async () => {
  const { fingerprints } = await keyedHashesWith(KEY);
  const prints = [
    ...fingerprints(fields),
    ...fingerprints(["airtime", "1", "101", "08031234567"]),
    ...fingerprints(["data", "1", "101", "08031234568"]),
    ...fingerprints(["data", "101", "1", "08031234567"]),
    ...fingerprints(["data", "11", "01", "08031234567"]),
    ...fingerprints(["data", "1", "101", "08031234567", ""]),
  ];
  expect(new Set(prints).size).toBe(6);
});

test("a fingerprint differs from the id of an order with the same fields", async () => {
  const { transactionId, fingerprints } = await keyedHashesWith(KEY);
  expect(fingerprints(["acc_1", "live", "order-1"])).not.toContain(transactionId(order));
});

describe("valueHash", () => {
  test("a value's hash never changes between versions: another one would match no stored event", async () => {
    // HMAC-SHA256 over "5:value12:phone_number11:08031234567" in base64url; made with Python.
    expect((await keyedHashesWith(KEY)).valueHash("phone_number", "08031234567")).toBe(
      "4aHyeWtLz9Bqs5B2lrEmu0FLId4iHcei-j0zLqZ8ZSQ",
    );
  });

  test("hashes differ by value and by kind of value", async () => {
    const { valueHash, recipientHash } = await keyedHashesWith(KEY);
    const kept = [valueHash("phone_number", "1"), valueHash("phone_number", "2"), recipientHash("1")];
    expect(new Set(kept).size).toBe(3);
    expect(recipientHash("1")).toBe(valueHash("recipient", "1"));
  });
});

describe("the key of the hashes", () => {
  test.for([
    ["absent", undefined],
    ["of 31 characters", KEY.slice(1)],
    ["with an empty second version", `${KEY}\n`],
    ["with a second version without a time", `${KEY}\n${KEY}`],
    ["with a second version of 31 characters", `${KEY}\n${line(1, "b").slice(0, -1)}`],
    ["with a time and no first version", line(1, "b")],
    ["with versions in the wrong order", `${KEY}\n${line(2, "b")}\n${line(1, "c")}`],
    ["with two versions of one time", `${KEY}\n${line(1, "b")}\n${line(1, "c")}`],
  ] as const)("a key that is %s is refused with an error that says so", async ([, value]) => {
    await expect(loadKeyedHashes(aSecret(value))()).rejects.toThrow("reference key");
  });

  test("a process never changes the first version, even if the secret is replaced by mistake", async () => {
    for (const later of [KEY.toUpperCase(), `${KEY.toUpperCase()}\n${line(1, "x")}`, undefined, "short"]) {
      const values = [KEY, later, `${KEY}\n${line(-1, "b")}`];
      const keyedHashes = loadKeyedHashes({ ...aSecret(undefined), value: async () => values.shift() });
      const first = (await keyedHashes()).transactionId(order);
      expect((await keyedHashes()).transactionId(order)).toBe(first);
      expect((await keyedHashes()).fingerprints(["a"])).toHaveLength(2);
    }
  });

  test("a process compares its key with the ledger once, and again only if that failed", async () => {
    const values = [KEY, KEY, `${KEY}\n${line(1, "b")}`];
    const answers = ["away", "ok", "not asked"];
    const check = async (): Promise<void> => {
      if (answers.shift() === "away") throw new Error("away");
    };
    const keyedHashes = loadKeyedHashes({ ...aSecret(undefined), value: async () => values.shift() }, check);
    await expect(keyedHashes()).rejects.toThrow("away");
    await keyedHashes();
    expect((await keyedHashes()).fingerprints(["a"])).toHaveLength(2);
    expect(answers).toEqual(["not asked"]);
  });

  test("an absent key is read again", async () => {
    const values = [undefined, KEY];
    const keyedHashes = loadKeyedHashes({ ...aSecret(undefined), value: async () => values.shift() });
    await expect(keyedHashes()).rejects.toThrow();
    expect((await keyedHashes()).transactionId(order)).toHaveLength(26);
  });
});

describe("a second version of the key", () => {
  const hashesAt = (hours: number, ...lines: readonly string[]): Promise<KeyedHashes> =>
    loadKeyedHashes(
      aSecret([KEY, ...lines].join("\n")),
      async () => {},
      () => NOW_MS + hours * 3_600_000,
    )();
  const original = () => keyedHashesWith(KEY);
  const fields = ["airtime", "08031234567"];

  test("leaves ids, keys of phone numbers, hashes of recipients and windows for duplicates as they are", async () => {
    const [one, other] = [await original(), await hashesAt(9, line(0, "b"))];
    expect(other.transactionId(order)).toBe(one.transactionId(order));
    expect(other.phoneKey("08031234567")).toBe(one.phoneKey("08031234567"));
    expect(other.recipientHash("08031234567")).toBe(one.recipientHash("08031234567"));
    expect(other.purchaseHash(fields)).toBe(one.purchaseHash(fields));
    expect(other.keyHash()).toBe(one.keyHash());
  });

  test.each(["fingerprints", "messageMacs", "cursorMacs"] as const)(
    "is used for %s from its time on, and known before",
    async (name) => {
      const [first] = (await original())[name](fields);
      const early = (await hashesAt(-0.001, line(0, "b")))[name](fields);
      const late = (await hashesAt(0, line(0, "b")))[name](fields);
      expect(early[0]).toBe(first);
      expect(late[0]).not.toBe(first);
      expect(early.toSorted()).toEqual(late.toSorted());
    },
  );

  test("is used for the hash of an event from its time on", async () => {
    const hashOf = ({ valueHash }: KeyedHashes): string => valueHash("upstream_event", "{}");
    const first = hashOf(await original());
    expect(hashOf(await hashesAt(-0.001, line(0, "b")))).toBe(first);
    expect(hashOf(await hashesAt(0, line(0, "b")))).not.toBe(first);
  });

  test("orders that were kept under any version are found for ever", async () => {
    const lines = [line(0, "b"), line(1, "c")];
    const kept = await Promise.all([original(), hashesAt(0, ...lines), hashesAt(1, ...lines)]);
    const later = await hashesAt(100_000, ...lines);
    for (const hashes of kept) {
      expect(later.fingerprints(fields)).toContain(hashes.fingerprints(fields)[0]);
    }
  });

  test.each(["messageMacs", "cursorMacs"] as const)(
    "%s under the earlier version count for one hour more, and then never again",
    async (name) => {
      const [first] = (await original())[name](fields);
      expect((await hashesAt(0.999, line(0, "b")))[name](fields)).toContain(first);
      expect((await hashesAt(1, line(0, "b")))[name](fields)).not.toContain(first);
      expect((await hashesAt(2.999, line(0, "b"), line(2, "c")))[name](fields)).toHaveLength(2);
    },
  );
});
