import * as z from "#zod";
import { manners } from "../../../tools/simulator/manner.ts";

/**
 * Which upstream a run of tests has: how it keeps to the document, and which orders carry our reference. `npm run
 * test:faults` and the contract suite are run with others by `UPSTREAM_MANNER` and `UPSTREAM_REFERENCES`.
 */
export const upstreamKind = z
  .pipe(
    z.object({
      UPSTREAM_MANNER: z._default(z.enum(manners), "lenient"),
      UPSTREAM_REFERENCES: z._default(z.enum(["all", "documented"]), "all"),
    }),
    z.transform(({ UPSTREAM_MANNER: manner, UPSTREAM_REFERENCES: references }) => ({ manner, references })),
  )
  .parse(process.env);
export type UpstreamKind = typeof upstreamKind;
