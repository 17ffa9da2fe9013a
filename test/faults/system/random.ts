import { syncBuiltinESMExports } from "node:module";
import { seeded } from "../../builders/run/seeded.ts";

/** The module as everybody reads it: its functions are looked up when they are called. */
const crypto = process.getBuiltinModule("node:crypto");

/** Has everything that is random follow from a seed. Returns the function that undoes it. */
export const openRandom = (seed: number): (() => void) => {
  const { randomBytes, randomInt, randomUUID } = crypto;
  const { random } = Math;
  const draw = seeded(seed);
  const bytes = (count: number): Buffer => Buffer.from(Array.from({ length: count }, () => Math.floor(draw() * 256)));
  Math.random = seeded(seed + 1);
  Object.assign(crypto, {
    randomBytes: bytes,
    randomInt: (max: number) => Math.floor(draw() * max),
    randomUUID: () =>
      bytes(16)
        .toString("hex")
        .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"),
  });
  syncBuiltinESMExports();
  return () => {
    Object.assign(crypto, { randomBytes, randomInt, randomUUID });
    syncBuiltinESMExports();
    Math.random = random;
  };
};
