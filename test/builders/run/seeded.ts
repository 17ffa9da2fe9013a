/** The modulus of Park and Miller's minimal standard generator, a prime. */
const MODULUS = 2_147_483_647;
const WARM_UP = 3;

/** A repeatable sequence of numbers from 0 up to 1 (Park and Miller's minimal standard generator). */
export const seeded = (seed: number): (() => number) => {
  // A seed of 0 would stay 0, and small ones would begin with small numbers.
  let state = (Math.trunc(Math.abs(seed)) % (MODULUS - 1)) + 1;
  const next = (): number => {
    state = (state * 48_271) % MODULUS;
    return state / MODULUS;
  };
  for (let round = 0; round < WARM_UP; round += 1) next();
  return next;
};
