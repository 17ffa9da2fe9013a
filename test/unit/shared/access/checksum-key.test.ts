import { expect, test } from "vitest";
import { checksumKeyOf, loadChecksumKey } from "../../../../shared/access/checksum-key.ts";
import { CHECKSUM_KEY } from "../../../builders/ledger/secrets.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";

/** A secret that gives these values in turn; an error is thrown. */
const secretOf = (...values: readonly (string | undefined | Error)[]) => {
  const rest = [...values];
  const value = async () => {
    const next = rest.shift();
    if (next instanceof Error) throw next;
    return next;
  };
  return { value, refetch: value, left: () => rest.length };
};

test("the key is read once in a process", async () => {
  const secret = secretOf(CHECKSUM_KEY, "another key that is as long as one must be");
  const checksumKey = loadChecksumKey(secret);
  expect([await checksumKey(), await checksumKey()]).toEqual([CHECKSUM_KEY, CHECKSUM_KEY]);
  expect(secret.left()).toBe(1);
});

test("while the key cannot be read it is asked for once a minute, and no request fails for it", async () => {
  const log = captureLog();
  let nowMs = 0;
  const secret = secretOf(new Error("Secrets Manager is away"), undefined, CHECKSUM_KEY);
  const checksumKey = loadChecksumKey(secret, () => nowMs);
  expect([await checksumKey(), await checksumKey()]).toEqual([undefined, undefined]);
  expect(secret.left()).toBe(2);
  nowMs = 60_000;
  expect(await checksumKey()).toBeUndefined();
  expect(log.lines("checksum_key.unreadable")).toHaveLength(2);
  nowMs = 2 * 60_000;
  expect(await checksumKey()).toBe(CHECKSUM_KEY);
});

test("no API key is made without the key of checksums", async () => {
  await expect(checksumKeyOf(secretOf(undefined))).rejects.toThrow("absent");
});
