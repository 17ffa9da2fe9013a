import * as z from "zod";
import type { ActionTable } from "./action.ts";

/** The person who signed in. */
export const personActions = {
  me: {
    scope: "person",
    kind: "read",
    input: z.object({}),
    output: z.object({
      /** As audit entries name the person. */
      by: z.string(),
      /** `operator`: everything. `reader`: sees everything, changes nothing. Null: what the owned accounts allow. */
      role: z.enum(["operator", "reader"]).nullable(),
      /** The accounts that the person owns. */
      owns: z.array(z.object({ account_id: z.string(), name: z.string() })),
      stage: z.string(),
      /** IANA name: days and months of the console are those of this zone. */
      time_zone: z.string(),
    }),
    summary: "Show who is signed in, and what they may do",
    command: "none",
  },
} as const satisfies ActionTable;
