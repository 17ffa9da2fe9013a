import * as z from "#zod";

/** The table of the deployed simulator: its settings, and each order that it accepted. */

export const SETTINGS_PK = "settings";

/** What the upstream and the service agree on; a rotation changes it on both sides. */
export const simulatorSettings = z.object({
  live_key: z.string().check(z.minLength(1)),
  webhook_url: z.url(),
  webhook_secret: z.string().check(z.minLength(1)),
});
export type SimulatorSettings = z.output<typeof simulatorSettings>;

export const simulatorOrder = z.object({
  pk: z.string().check(z.startsWith("order#")),
  reference: z.string(),
  upstream_reference: z.string(),
  amount_kobo: z.int(),
});
export type SimulatorOrder = z.output<typeof simulatorOrder>;
