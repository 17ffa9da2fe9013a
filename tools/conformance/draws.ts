import { createHash } from "node:crypto";

const BYTES = 6;

/**
 * Numbers from 0 up to 1 by chance, the same for the same seed and key. Each order has its own, so that it meets the
 * same faults in whatever sequence the orders run.
 */
export const draws = (seed: number, key: string): (() => number) => {
  let count = 0;
  return () => {
    count += 1;
    const hash = createHash("sha256").update(`${seed}/${key}/${count}`).digest();
    return hash.readUIntBE(0, BYTES) / 2 ** (BYTES * 8);
  };
};
