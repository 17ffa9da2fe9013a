import * as z from "#zod";

/** The table of the deployed simulator: its settings, each order that it accepted, and its receivers of webhooks. */

export const SETTINGS_PK = "settings";

/** What the upstream and the service agree on; a rotation changes it on both sides. */
export const simulatorSettings = z.object({
  live_key: z.string().check(z.minLength(1)),
  webhook_url: z.url(),
  webhook_secret: z.string().check(z.minLength(1)),
});
export type SimulatorSettings = z.output<typeof simulatorSettings>;

export const ORDER_PREFIX = "order#";

export const simulatorOrder = z.object({
  pk: z.string().check(z.startsWith(ORDER_PREFIX)),
  reference: z.string(),
  upstream_reference: z.string(),
  amount_kobo: z.int(),
});
export type SimulatorOrder = z.output<typeof simulatorOrder>;

/** The last segment of a receiver's address, which nobody can guess. */
export const receiverPk = (token: string): string => `receiver#${token}`;

/** A webhook that came. Its body is not kept, because it has a phone number. */
const receivedWebhook = z.object({
  webhook_id: z.string(),
  reference: z.string(),
  status: z.string(),
  /** Why it is not an event that the endpoint's secret signed; empty if it is one. */
  fault: z.string(),
  at_ms: z.int(),
});
export type ReceivedWebhook = z.output<typeof receivedWebhook>;

/** The receiver of one endpoint, with what came there, in order. */
export const receiver = z.object({ secret: z.string(), received: z.array(receivedWebhook) });
export type Receiver = z.output<typeof receiver>;
