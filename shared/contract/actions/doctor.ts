import * as z from "#zod";
import { type ActionTable, serviceRead } from "./action.ts";

/** Checks of the whole service. */
export const doctorActions = {
  doctor: {
    ...serviceRead,
    input: z.object({}),
    output: z.object({
      /** Whether no check found a fault. */
      ok: z.boolean(),
      checks: z.array(
        z.object({
          check: z.string(),
          /** `wrong`: a fault of the service. `look`: no fault, but a person should look into it. */
          state: z.enum(["ok", "look", "wrong", "skipped"]),
          found: z.string(),
          /** What to do, in terms of the admin commands. */
          todo: z.optional(z.string()),
          /** Of `look`: how many a person should look into. */
          count: z.optional(z.int()),
        }),
      ),
    }),
    summary: "Check what the service depends on, as far as the console may read it",
    command: "by hand",
  },
} as const satisfies ActionTable;
