import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import * as z from "#zod";
import { projectRoot } from "../../../../infra/bundle/project-root.ts";
import { settingsOf } from "../../../../infra/stage-settings.ts";
import { stages } from "../../../../stages.ts";
import { cells, limitLoads } from "../../../../tools/scale/limit-loads.ts";

describe("npm run scale", () => {
  const run = (...args: readonly string[]) =>
    promisify(execFile)(process.execPath, ["lab/scale/print.ts", ...args], { cwd: projectRoot });

  test("npm run scale prints their data as JSON with --json", async () => {
    const { stdout } = await run("--json");
    const used = z.looseObject({ limit: z.looseObject({ name: z.string() }), share: z.number() });
    const printed = z
      .object({
        first: z.array(z.looseObject({ firsts: z.record(z.string(), used) })),
        limits: z.array(z.looseObject({ capacity: z.number() })),
        costs: z.array(z.object({ purchasesPerS: z.number(), monthlyDollars: z.number() })),
      })
      .parse(JSON.parse(stdout));
    const settings = settingsOf("prod", stages);
    expect(printed.first.map(({ firsts }) => firsts["as deployed"]?.share)).toEqual(
      cells(settings).map(({ firsts }) => firsts["as deployed"]?.share),
    );
    expect(printed.limits.map(({ capacity }) => capacity)).toEqual(
      limitLoads(settings).map(({ capacity }) => capacity),
    );
  });

  test("npm run scale refuses another option with a message", async () => {
    await expect(run("--yaml")).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Usage: npm run scale -- [--json | --hour]"),
    });
  });
});
