import * as z from "zod";

/** What an instance is sent: the event, and the function's time-out. */
export type Invocation = { readonly event: unknown; readonly timeoutS: number };

/** What it returns: the handler's answer, how long that took, its CPU time, and the most memory that it ever had. */
export const invoked = z.object({
  answer: z.unknown(),
  durationMs: z.number(),
  cpuMs: z.number(),
  memoryKb: z.number(),
});
export type Invoked = z.infer<typeof invoked>;
