import type { Mode } from "../../../shared/contract/transaction.ts";
import type { Part } from "../part.ts";
import { type Stack, stacks } from "../stacks.ts";
import { openSurroundings } from "../surroundings.ts";
import { drawPurchases } from "./chart.ts";
import { type Counts, countPurchase } from "./counts.ts";
import { allRounds, load, runRounds } from "./rounds.ts";
import type { Slice } from "./slice.ts";
import { purchaseTables } from "./tables.ts";

/** What was measured of one stack. */
export type Line = {
  readonly stack: Stack;
  readonly counts: Counts;
  readonly slices: Readonly<Record<Mode, readonly Slice[]>>;
};

export const purchase: Part = {
  says:
    `buys ${load.orders} data bundles from each of ${stacks.length} stacks in turn, ${allRounds} times with test keys and as often with ` +
    "live ones; about 3 minutes.",
  measure: async (say) => {
    const around = await openSurroundings();
    try {
      say("counting calls and capacity");
      const counts = new Map<Stack["name"], Counts>();
      for (const stack of stacks) counts.set(stack.name, await countPurchase(stack, around));
      const test = await runRounds("test", around, say);
      const live = await runRounds("live", around, say);
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
        figures: lines.map(({ stack, ...measured }) => ({ stack: stack.name, ...measured })),
        sections: { purchase: purchaseTables(lines) },
        drawings: { "performance.svg": drawPurchases(lines) },
      };
    } finally {
      await around.stop();
    }
  },
};
