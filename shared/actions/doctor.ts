import type { doctorActions } from "../contract/actions/doctor.ts";
import type { ActionContext } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";
import { type CheckResult, type DoctorCheck, wrong } from "./doctor-check-result.ts";
import { consoleChecks } from "./doctor-checks.ts";

/** The results of checks that run at once. `failed` makes a result of an error. */
export const runChecks = async <Context>(
  checks: Readonly<Record<string, DoctorCheck<Context>>>,
  context: Context,
  failed: (error: unknown) => CheckResult,
) => {
  const results = await Promise.all(
    Object.entries(checks).map(async ([check, run]) => ({ check, ...(await run(context).catch(failed)) })),
  );
  return { ok: results.every(({ state }) => state !== "wrong"), checks: results };
};

const couldNotBeChecked = (error: unknown): CheckResult =>
  wrong(
    `could not be checked (${error instanceof Error ? error.name : "unknown"})`,
    "Run admin doctor, which says more",
  );

export const doctorRuns: ActionRuns<typeof doctorActions> = {
  doctor: (context) => runChecks<ActionContext>(consoleChecks, context, couldNotBeChecked),
};
