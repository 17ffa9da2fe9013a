import type { doctorActions } from "../contract/actions/doctor.ts";
import type { ActionRuns } from "./action-runs.ts";

export const doctorRuns: ActionRuns<typeof doctorActions> = {};
