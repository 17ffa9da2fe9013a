import type { Mode } from "../../../shared/contract/transaction.ts";
import { openBackends } from "../backends.ts";
import type { Part } from "../part.ts";
import { type Stack, stacks } from "../stacks.ts";
import { drawPurchases } from "./chart.ts";
import { type Counts, countPurchase } from "./counts.ts";
import { allRounds, load, runRounds } from "./rounds.ts";
import type { Slice } from "./slice.ts";
import { purchaseTables } from "./tables.ts";

/** The measurements of one stack. */
export type Line = {
  readonly stack: Stack;
  readonly counts: Counts;
  readonly slices: Readonly<Record<Mode, readonly Slice[]>>;
};

export const purchase: Part = {
  description:
    `buys ${load.orders} data bundles from each of ${stacks.length} stacks in turn, ${allRounds} times with test keys and as often with ` +
    "live keys; about 3 minutes",
  measure: async (report) => {
    const backends = await openBackends();
    try {
      report("counting calls and capacity");
      const counts = new Map<Stack["name"], Counts>();
      for (const stack of stacks) counts.set(stack.name, await countPurchase(stack, backends));
      const test = await runRounds("test", backends, report);
      const live = await runRounds("live", backends, report);
      const lines = stacks.map((stack): Line => {
        const counted = counts.get(stack.name);
        if (counted === undefined) throw new Error(`${stack.name} was not counted`);
        return {
          stack,
          counts: counted,
          slices: { test: test.get(stack.name) ?? [], live: live.get(stack.name) ?? [] },
        };
      });
      return {
        results: lines.map(({ stack, ...measured }) => ({ stack: stack.name, ...measured })),
        sections: { purchase: purchaseTables(lines) },
        drawings: { "performance.svg": drawPurchases(lines) },
      };
    } finally {
      await backends.stop();
    }
  },
};
