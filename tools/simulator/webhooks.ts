import { createHmac } from "node:crypto";
import { sloppyEvent } from "./manner.ts";
import type { LaterEvent } from "./outcomes.ts";
import type { EventDelivery, Order, SimulatorState } from "./state.ts";

/** How long a receiver may take. Source: docs/interface.md 15.4. */
const ACKNOWLEDGE_MS_MAX = 5_000;

/** How the simulator signs its events. The interface names neither header nor encoding: docs/interface.md 17.D1. */
export const SIMULATOR_SIGNATURE = { header: "x-webhook-signature", encoding: "hex", prefix: "" } as const;

/** A given `signature` replaces the valid one; null omits the header. */
type SendOptions = { readonly copies?: number | undefined; readonly signature?: string | null | undefined };

/**
 * The `transaction.updated` event of an order; `changes` replaces fields of its `data`. Source: docs/interface.md 15.2.
 */
export const orderEvent = (order: Order, status: string, changes: Readonly<Record<string, unknown>> = {}): unknown => {
  const data = {
    reference: order.upstreamReference,
    status,
    amount: order.amountKobo / 100,
    type: order.type,
    network: order.networkName,
    phone_number: order.phoneNumber,
    created_at: order.at,
    ...changes,
  };
  return { event: "transaction.updated", data };
};

/** The same as an upstream of this manner sends it. */
export const sentEvent = ({ settings }: SimulatorState, ...event: Parameters<typeof orderEvent>): unknown =>
  settings.manner === "sloppy" ? sloppyEvent(orderEvent(...event)) : orderEvent(...event);

/** Sends one event as it is, `copies` times and without retries; without a webhook nothing is sent. */
export const sendEvent = async (
  state: SimulatorState,
  event: unknown,
  options: SendOptions = {},
): Promise<EventDelivery[]> => {
  const { webhook } = state;
  if (webhook === undefined) return [];
  const body = JSON.stringify(event);
  const validSignature = createHmac("sha256", webhook.secret).update(body).digest(SIMULATOR_SIGNATURE.encoding);
  const signature = options.signature === undefined ? validSignature : options.signature;
  const headers = new Headers({ "Content-Type": "application/json" });
  if (signature !== null) headers.set(SIMULATOR_SIGNATURE.header, signature);

  const deliveries: EventDelivery[] = [];
  for (let copy = 0; copy < (options.copies ?? 1); copy += 1) {
    const result = await post(webhook.url, { headers, body, stopping: state.stopping.signal });
    const delivery: EventDelivery = { url: webhook.url, body, ...result, at: new Date().toISOString() };
    deliveries.push(delivery);
    state.deliveries.push(delivery);
  }
  return deliveries;
};

/** Settles an order after a delay and sends its event, unless the order has the opposite final status by then. */
export const settleLater = (state: SimulatorState, order: Order, later: LaterEvent): void => {
  state.timers.after(state.settings.delayedOutcomeMs, () => {
    state.settle(order, later.status);
    if (order.status === later.status)
      void sendEvent(state, sentEvent(state, order, later.status), { copies: later.copies });
  });
};

type EventRequest = { readonly headers: Headers; readonly body: string; readonly stopping: AbortSignal };

const post = async (
  url: string,
  { headers, body, stopping }: EventRequest,
): Promise<Pick<EventDelivery, "status" | "error">> => {
  try {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(ACKNOWLEDGE_MS_MAX)]);
    const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal });
    await response.body?.cancel();
    return { status: response.status, error: null };
  } catch (error) {
    return { status: null, error: error instanceof Error ? error.message : String(error) };
  }
};
