import { expect, test } from "vitest";
import { seal, sealingKey, unseal } from "../../../../shared/platform/seal.ts";
import { aSecret } from "../../../builders/ledger/secrets.ts";

const keyFrom = (value: string | undefined) => sealingKey(aSecret(value));
const plain = Buffer.from("a record");

test("a sealed value opens with the same key for the same owner", async () => {
  const key = await keyFrom("k".repeat(32));
  expect(unseal(key, "acc_1", seal(key, "acc_1", plain))).toEqual(plain);
});

test("a sealed value does not open for another owner, with another key, or after a change", async () => {
  const key = await keyFrom("k".repeat(32));
  const sealed = seal(key, "acc_1", plain);
  const changed = Buffer.from(sealed);
  changed[sealed.length - 1] = (changed[sealed.length - 1] ?? 0) ^ 1;
  const otherKey = await keyFrom("K".repeat(32));
  expect(() => unseal(key, "acc_2", sealed)).toThrow();
  expect(() => unseal(otherKey, "acc_1", sealed)).toThrow();
  expect(() => unseal(key, "acc_1", changed)).toThrow();
});

test("two seals of one value differ", async () => {
  const key = await keyFrom("k".repeat(32));
  expect(seal(key, "acc_1", plain)).not.toEqual(seal(key, "acc_1", plain));
});

test.for([
  ["absent", undefined],
  ["shorter than 32 characters", "k".repeat(31)],
] as const)("a key that is %s is refused", async ([, value]) => {
  await expect(keyFrom(value)).rejects.toThrow("absent or too short");
});
