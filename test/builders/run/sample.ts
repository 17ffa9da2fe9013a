/**
 * Which of every n-th things a seed takes, for several n. The choices do not depend on each other: the remainders of one
 * seed would always pair the same scenario with the same effects, and leave the others out for good.
 */
export const offsetsOf = (seed: number, steps: readonly number[]): readonly number[] => {
  let rest = seed;
  return steps.map((step) => {
    const offset = rest % step;
    rest = Math.floor(rest / step);
    return offset;
  });
};
