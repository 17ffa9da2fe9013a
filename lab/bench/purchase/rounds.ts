import type { Backends } from "../backends.ts";
import { times } from "../extent.ts";
import type { Report } from "../part.ts";
import type { Stack } from "../stacks.ts";
import { median } from "../statistics.ts";
import { keysFor, type Slice } from "./slice.ts";

/** The first rounds are not counted. */
export const WARM_UP_ROUNDS = times(2, 0);
export const ROUNDS = times(11);
export const allRounds = WARM_UP_ROUNDS + ROUNDS;

/** A way to run a stack, and to buy from it. */
export type Runner = {
  readonly title: string;
  readonly orders: number;
  /** Undefined for a stack that cannot be run in this way. */
  readonly start: (stack: Stack) => Promise<Running | undefined>;
};
export type Running = {
  readonly buy: (keys: readonly string[]) => Promise<Slice>;
  readonly stop: () => Promise<void>;
};

export type Slices = ReadonlyMap<Stack["name"], readonly Slice[]>;

/** Buys from all stacks in turn, each round in another order. Resolves with the slices of each stack. */
export const runRounds = async (
  { title, orders, start }: Runner,
  stacks: readonly Stack[],
  backends: Backends,
  report: Report,
): Promise<Slices> => {
  const running = new Map<Stack, Running>();
  const slices = new Map<Stack["name"], Slice[]>();
  try {
    for (const stack of stacks) {
      const started = await start(stack);
      if (started === undefined) continue;
      running.set(stack, started);
      slices.set(stack.name, []);
    }
    for (let round = 0; round < allRounds; round += 1) {
      for (const [stack, { buy }] of rotated([...running], round)) {
        const keys = await stack.prepare(backends, keysFor(orders));
        slices.get(stack.name)?.push(await buy(keys));
      }
      report(`${title}, round ${round + 1} of ${allRounds}: ${summary(slices)}`);
    }
  } finally {
    await Promise.all([...running.values()].map(({ stop }) => stop()));
  }
  return new Map([...slices].map(([name, of]) => [name, of.slice(WARM_UP_ROUNDS)]));
};

const rotated = <Value>(values: readonly Value[], by: number): readonly Value[] => {
  const start = by % values.length;
  return [...values.slice(start), ...values.slice(0, start)];
};

const summary = (slices: Slices): string =>
  [...slices].map(([name, of]) => `${name} ${Math.round(median(of.map(({ cpuUs }) => cpuUs)))} µs`).join(", ");
