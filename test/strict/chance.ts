import { seeded } from "../builders/run/seeded.ts";
import type { Range } from "./settings.ts";

/** The decisions of a seed. */
export type Chance = {
  /** True for this share of the calls. A share of 0 draws no number, so that other decisions stay the same. */
  readonly happens: (share: number) => boolean;
  readonly within: (range: Range) => number;
  readonly oneOf: <Value>(values: readonly Value[]) => Value | undefined;
  readonly shuffled: <Value>(values: readonly Value[]) => Value[];
};

export const chanceOf = (seed: number): Chance => {
  const draw = seeded(seed);
  return {
    happens: (share) => share > 0 && draw() < share,
    within: ({ min, max }) => (min === max ? min : min + draw() * (max - min)),
    oneOf: (values) => values[Math.floor(draw() * values.length)],
    shuffled: (values) =>
      values
        .map((value) => ({ value, place: draw() }))
        .toSorted((one, other) => one.place - other.place)
        .map(({ value }) => value),
  };
};
