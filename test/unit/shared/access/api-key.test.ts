import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { hasChecksum, hashApiKey, hasKeyForm, newApiKey } from "../../../../shared/access/api-key.ts";
import { CHECKSUM_KEY } from "../../../builders/ledger/secrets.ts";

const isWellFormedKey = (key: string): boolean => hasKeyForm(key) && hasChecksum(key, CHECKSUM_KEY);

test("a new key begins with live_ or test_ by its mode and has 38 characters behind it", () => {
  expect(newApiKey("live", CHECKSUM_KEY)).toMatch(/^live_[A-Za-z0-9_-]{38}$/);
  expect(newApiKey("test", CHECKSUM_KEY)).toMatch(/^test_[A-Za-z0-9_-]{38}$/);
});

test("a new key is well-formed and unique in 200 of 200 tries", () => {
  const keys = Array.from({ length: 200 }, (_, index) => newApiKey(index % 2 === 0 ? "live" : "test", CHECKSUM_KEY));
  expect(keys.filter(isWellFormedKey)).toHaveLength(200);
  expect(new Set(keys).size).toBe(200);
});

test("a key that is made with another key of checksums is not well-formed", () => {
  expect(isWellFormedKey(newApiKey("live", CHECKSUM_KEY.toUpperCase()))).toBe(false);
});

describe("a malformed key", () => {
  test("a key is not well-formed if any of its 43 characters is changed", () => {
    const key = newApiKey("live", CHECKSUM_KEY);
    const changed = [...key].map(
      (character, at) => `${key.slice(0, at)}${character === "A" ? "B" : "A"}${key.slice(at + 1)}`,
    );
    expect(changed).toHaveLength(43);
    expect(changed.filter(isWellFormedKey)).toEqual([]);
  });

  test("a key is not well-formed if it is a test key with the prefix live_, because the checksum covers the prefix", () => {
    const key = newApiKey("test", CHECKSUM_KEY);
    expect(isWellFormedKey(key.replace("test_", "live_"))).toBe(false);
  });

  test.for([
    ["empty", ""],
    ["only a prefix", "live_"],
    ["of another prefix", "prod_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"],
    ["right in its form but not in its checksum", `live_${"a".repeat(38)}`],
  ] as const)("a key is not well-formed if it is %s", ([, key]) => {
    expect(isWellFormedKey(key)).toBe(false);
  });

  test("a key is not well-formed if its checksum is right but its form is not: another prefix, 31 or 33 characters, a space", () => {
    const a = (count: number): string => "a".repeat(count);
    const unchecked = [
      `prod_${a(32)}`,
      `LIVE_${a(32)}`,
      `live_${a(31)}`,
      `live_${a(33)}`,
      `live_${a(31)} `,
      `live_${a(31)}\n`,
    ];
    // The checksum of a key is the first 6 characters of the HMAC of the rest.
    const checksum = (text: string) => createHmac("sha256", CHECKSUM_KEY).update(text).digest("base64url").slice(0, 6);
    const keys = [`live_${a(32)}`, ...unchecked].map((text) => `${text}${checksum(text)}`);
    expect(keys.map(isWellFormedKey)).toEqual([true, false, false, false, false, false, false]);
  });

  test("a key is not well-formed if it lacks a character, or has another character, a space or a line break at its end", () => {
    const key = newApiKey("live", CHECKSUM_KEY);
    const spoilt = [key.slice(0, -1), key.slice(1), `${key}a`, `${key} `, ` ${key}`, `${key}\n`, key.toUpperCase()];
    expect(spoilt.filter(isWellFormedKey)).toEqual([]);
    expect(isWellFormedKey(key)).toBe(true);
  });
});

test("the hash of a key is its SHA-256 as 43 characters of base64url", () => {
  // `printf abc | openssl sha256 -binary | base64`
  expect(hashApiKey("abc")).toBe("ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
});
