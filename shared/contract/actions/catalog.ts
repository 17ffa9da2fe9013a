import * as z from "#zod";
import { dataPlanSchema, networkSchema } from "../catalog.ts";
import { type ActionTable, changeInput, serviceChange, serviceRead } from "./action.ts";

const outline = z.object({
  fetched_at: z.iso.datetime(),
  /** Since then: `3 min`. */
  age: z.string(),
  networks: z.int(),
  plans: z.int(),
  /** How many entries of the upstream's catalog are invalid. */
  dropped: z.int(),
});

const droppedEntries = z.object({
  count: z.int(),
  first: z.array(z.object({ kind: z.enum(["network", "plan"]), id: z.string(), field: z.string() })),
});

export const catalogActions = {
  "catalog show": {
    ...serviceRead,
    input: z.object({}),
    output: z.object({
      /** Null until one has been fetched. */
      served: z.nullable(
        z.extend(outline, {
          etag: z.string(),
          networks: z.array(networkSchema),
          data_plans: z.array(dataPlanSchema),
          dropped: droppedEntries,
        }),
      ),
      /** The newer catalog that is not served, because it has no plans or less than half of those before. */
      refused: z.nullable(outline),
    }),
    summary: "Show the served catalog, its age, the dropped entries, and a refused catalog if there is one",
    command: {},
  },
  "catalog diff": {
    ...serviceRead,
    input: z.object({}),
    output: z.object({
      refused: z.nullable(
        z.extend(outline, {
          added: z.array(dataPlanSchema),
          removed: z.array(dataPlanSchema),
          repriced: z.array(z.extend(dataPlanSchema, { previous_price: z.number() })),
          networks_added: z.array(networkSchema),
          networks_removed: z.array(networkSchema),
        }),
      ),
    }),
    summary: "Compare the refused catalog with the served one",
    command: "by hand",
  },
  "catalog accept": {
    ...serviceChange,
    irreversible: true,
    input: z.extend(changeInput, {
      /** The `fetched_at` of the refused catalog that was reviewed: another one is not accepted. */
      fetched_at: z.optional(z.iso.datetime()),
    }),
    output: z.object({ kind: z.literal("accepted"), plans: z.int() }),
    summary: "Serve the refused catalog, which has no plans or less than half of those before",
    command: { example: '--why "the upstream sells two networks only, ticket 90"' },
  },
} as const satisfies ActionTable;
