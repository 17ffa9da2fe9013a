import * as z from "zod";

/** The success envelope around any payload (INTERFACE "Response envelope"). */
export const successEnvelope = <Data extends z.ZodType>(data: Data) =>
  z.object({ status: z.literal(true), message: z.string(), data });

/** The error envelope (INTERFACE "Error envelope"); `errors` is there when single fields are to blame. */
export const errorEnvelope = z.object({
  status: z.literal(false),
  message: z.string(),
  errors: z.record(z.string(), z.array(z.string())).optional(),
});
