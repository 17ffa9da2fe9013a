import * as z from "#zod";
import { roles } from "../roles.ts";
import { stageColourSchema } from "../stage-colour.ts";
import { type ActionTable, nairaAmount } from "./action.ts";

export const personActions = {
  me: {
    scope: "person",
    roles,
    kind: "read",
    input: z.object({}),
    output: z.object({
      /** As audit entries name the person. */
      by: z.string(),
      /** None: what the owned accounts allow. */
      roles: z.array(z.enum(roles)),
      /** The accounts that the person owns. */
      owns: z.array(z.object({ account_id: z.string(), name: z.string() })),
      stage: z.object({
        name: z.string(),
        /** `live`: real money. `test`: it has test keys only. `local`: the service on a person's machine. */
        kind: z.enum(["live", "test", "local"]),
        colour: stageColourSchema,
      }),
      /** Null: one person does everything alone, or the person has no role and so nothing to propose. */
      four_eyes: z.nullable(
        z.object({
          /** A live order up to this amount is settled by one person. */
          resolve_above: nairaAmount,
          /** After this time a proposal cannot be approved any more. */
          hours: z.int(),
        }),
      ),
      /** IANA name: days and months of the console are those of this zone. */
      time_zone: z.string(),
    }),
    summary: "Show who is signed in, and what they may do",
    command: "none",
  },
} as const satisfies ActionTable;
