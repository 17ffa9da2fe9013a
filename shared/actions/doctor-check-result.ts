import type { ActionContext } from "./action-context.ts";

/** `wrong`: a fault of the service. `look`: no fault, but a person should look into it. */
export type CheckResult = {
  readonly state: "ok" | "look" | "wrong" | "skipped";
  readonly found: string;
  readonly todo?: string;
  /** How many findings a person has to look into. */
  readonly count?: number;
};
export type DoctorCheck<Context = ActionContext> = (context: Context) => Promise<CheckResult>;

export const ok = (found: string): CheckResult => ({ state: "ok", found });
export const wrong = (found: string, todo: string): CheckResult => ({ state: "wrong", found, todo });
export const lookInto = (found: string, todo: string, count = 1): CheckResult => ({
  state: "look",
  found,
  todo,
  count,
});
export const skipped = (found: string): CheckResult => ({ state: "skipped", found });
