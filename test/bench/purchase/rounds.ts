import type { Mode } from "../../../shared/contract/transaction.ts";
import type { Say } from "../part.ts";
import { median } from "../samples.ts";
import { type ServerProcess, startServer } from "../server-process.ts";
import { type Stack, stacks } from "../stacks.ts";
import type { Surroundings } from "../surroundings.ts";
import { keysFor, runSlice, type Slice } from "./slice.ts";

export const load = { orders: 400, concurrency: 16 };
/** The first ones only warm up. */
const WARM_ROUNDS = 2;
const ROUNDS = 11;
export const allRounds = WARM_ROUNDS + ROUNDS;

/** Has all stacks buy in turn, round after round, each round beginning with another one. Resolves with each stack's slices. */
export const runRounds = async (
  mode: Mode,
  around: Surroundings,
  say: Say,
): Promise<ReadonlyMap<Stack["name"], readonly Slice[]>> => {
  const servers = new Map<Stack["name"], ServerProcess>();
  const slices = new Map<Stack["name"], Slice[]>(stacks.map(({ name }) => [name, []]));
  try {
    for (const { name, command, environment } of stacks) {
      const all = { ...environment(mode, around), ...around.awsEnvironment() };
      servers.set(name, await startServer(command, all, around.file(`${name}-${mode}.log`)));
    }
    for (let round = 0; round < allRounds; round += 1) {
      for (const stack of rotated(stacks, round)) {
        const server = servers.get(stack.name);
        if (server === undefined) continue;
        const keys = await stack.prepare(around, mode, keysFor(load.orders));
        slices.get(stack.name)?.push(await runSlice(server, keys, load));
      }
      say(`${mode}, round ${round + 1} of ${allRounds}: ${told(slices)}`);
    }
  } finally {
    await Promise.all([...servers.values()].map(({ stop }) => stop()));
  }
  return new Map([...slices].map(([name, of]) => [name, of.slice(WARM_ROUNDS)]));
};

const rotated = <Value>(values: readonly Value[], by: number): readonly Value[] => {
  const start = by % values.length;
  return [...values.slice(start), ...values.slice(0, start)];
};

const told = (slices: ReadonlyMap<string, readonly Slice[]>): string =>
  [...slices].map(([name, of]) => `${name} ${Math.round(median(of.map(({ perSecond }) => perSecond)))}/s`).join(", ");
