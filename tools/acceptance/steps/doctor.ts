import * as z from "#zod";
import { MINUTE_MS } from "../../../shared/contract/values/durations.ts";
import type { Context, Stage } from "../context.ts";
import { assertThat, found, type Outcome } from "../outcome.ts";

const report = z.object({
  ok: z.boolean(),
  checks: z.array(z.object({ check: z.string(), state: z.string(), found: z.string(), todo: z.optional(z.string()) })),
});

/** The first catalog is fetched within minutes after the upstream's key was set. */
const CATALOG_MS_MAX = 3 * MINUTE_MS;
const POLL_MS = 5_000;

/** Runs the operator's checks of everything that the stage depends on, after everything that was done to it. */
export const runDoctor = async ({ wait }: Context, { admin }: Stage): Promise<Outcome> => {
  const untilMs = Date.now() + CATALOG_MS_MAX;
  for (;;) {
    const { ok, checks } = await admin(report, ["doctor"]);
    const wrong = checks.filter(({ state }) => state === "wrong");
    if (ok)
      return found(
        `${checks.filter(({ state }) => state === "ok").length} of ${checks.length} checks are ok, none is wrong`,
      );
    assertThat(
      Date.now() < untilMs,
      wrong.map(({ check, found, todo = "" }) => `${check}: ${found}. ${todo}`).join("; "),
    );
    await wait(POLL_MS, `what doctor says is wrong: ${wrong.map(({ check }) => check).join(", ")}`);
  }
};
