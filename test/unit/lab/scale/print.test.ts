import { expect, test, vi } from "vitest";
import * as z from "#zod";
import { settingsOf } from "../../../../infra/stage-settings.ts";
import { stages } from "../../../../stages.ts";
import { cells, limitLoads } from "../../../../tools/scale/limit-loads.ts";

test("npm run scale prints their data as JSON with --json", async () => {
  const print = vi.spyOn(console, "log").mockReturnValue();
  const { argv } = process;
  process.argv = ["node", "print.ts", "--json"];
  await import("../../../../lab/scale/print.ts");
  process.argv = argv;
  const used = z.looseObject({ limit: z.looseObject({ name: z.string() }), share: z.number() });
  const printed = z
    .object({
      first: z.array(z.looseObject({ firsts: z.record(z.string(), used) })),
      limits: z.array(z.looseObject({ capacity: z.number() })),
      costs: z.array(z.object({ purchasesPerS: z.number(), monthlyDollars: z.number() })),
    })
    .parse(JSON.parse(String(print.mock.lastCall)));
  const settings = settingsOf("prod", stages);
  expect(printed.first.map(({ firsts }) => firsts["as deployed"]?.share)).toEqual(
    cells(settings).map(({ firsts }) => firsts["as deployed"]?.share),
  );
  expect(printed.limits.map(({ capacity }) => capacity)).toEqual(limitLoads(settings).map(({ capacity }) => capacity));
});
