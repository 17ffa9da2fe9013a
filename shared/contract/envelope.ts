import * as z from "zod";

/** The success envelope. Source: docs/interface.md 4.2. */
export const successEnvelope = <Data extends z.ZodType>(data: Data) =>
  z.object({ status: z.literal(true), message: z.string(), data });

/** The error envelope; `errors` names single fields that are wrong. Source: docs/interface.md 4.3. */
export const errorEnvelope = z.object({
  status: z.literal(false),
  message: z.string(),
  errors: z.record(z.string(), z.array(z.string())).optional(),
});
