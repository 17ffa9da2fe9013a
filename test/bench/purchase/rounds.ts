import type { Mode } from "../../../shared/contract/transaction.ts";
import type { Backends } from "../backends.ts";
import type { Report } from "../part.ts";
import { type ServerProcess, startServer } from "../server-process.ts";
import { type Stack, stacks } from "../stacks.ts";
import { median } from "../statistics.ts";
import { keysFor, runSlice, type Slice } from "./slice.ts";

export const load = { orders: 400, concurrency: 16 };
/** The first rounds warm up. */
const WARM_ROUNDS = 2;
const ROUNDS = 11;
export const allRounds = WARM_ROUNDS + ROUNDS;

/** Loads all stacks in turn, each round in another order. Resolves with the slices of each stack. */
export const runRounds = async (
  mode: Mode,
  backends: Backends,
  report: Report,
): Promise<ReadonlyMap<Stack["name"], readonly Slice[]>> => {
  const servers = new Map<Stack["name"], ServerProcess>();
  const slices = new Map<Stack["name"], Slice[]>(stacks.map(({ name }) => [name, []]));
  try {
    for (const { name, command, environment } of stacks) {
      const all = { ...environment(mode, backends), ...backends.awsEnvironment() };
      servers.set(name, await startServer(command, all, backends.file(`${name}-${mode}.log`)));
    }
    for (let round = 0; round < allRounds; round += 1) {
      for (const stack of rotated(stacks, round)) {
        const server = servers.get(stack.name);
        if (server === undefined) continue;
        const keys = await stack.prepare(backends, mode, keysFor(load.orders));
        slices.get(stack.name)?.push(await runSlice(server, keys, load));
      }
      report(`${mode}, round ${round + 1} of ${allRounds}: ${summary(slices)}`);
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

const summary = (slices: ReadonlyMap<string, readonly Slice[]>): string =>
  [...slices].map(([name, of]) => `${name} ${Math.round(median(of.map(({ perSecond }) => perSecond)))}/s`).join(", ");
