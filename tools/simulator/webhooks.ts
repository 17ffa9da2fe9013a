import { createHmac } from "node:crypto";
import type { LaterEvent } from "./outcomes.ts";
import type { Delivery, Order, SimulatorState } from "./state.ts";

/** How long a receiver may take, in ms. Source: INTERFACE "Receiver rules" 1. */
const ACKNOWLEDGE_MS = 5_000;

/** How the simulator signs its events. INTERFACE names neither a header nor an encoding. */
export const SIMULATOR_SIGNATURE = { header: "x-webhook-signature", encoding: "hex", prefix: "" } as const;

/** A given `signature` replaces the right one; null leaves the header out. */
export type SendOptions = { copies?: number | undefined; signature?: string | null | undefined };

/** The `transaction.updated` event of an order, with chosen fields of `data` replaced. Source: INTERFACE "Events". */
export function eventOf(order: Order, status: string, changes: Readonly<Record<string, unknown>> = {}): unknown {
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
}

/** Posts one event, once per copy and without retries; without a webhook nothing is sent. */
export async function sendEvent(state: SimulatorState, event: unknown, options: SendOptions = {}): Promise<Delivery[]> {
  const { webhook } = state;
  if (webhook === undefined) return [];
  const body = JSON.stringify(event);
  const rightSignature = createHmac("sha256", webhook.secret).update(body).digest(SIMULATOR_SIGNATURE.encoding);
  const signature = options.signature === undefined ? rightSignature : options.signature;
  const headers = new Headers({ "Content-Type": "application/json" });
  if (signature !== null) headers.set(SIMULATOR_SIGNATURE.header, signature);

  const deliveries: Delivery[] = [];
  for (let copy = 0; copy < (options.copies ?? 1); copy += 1) {
    const answer = await post(webhook.url, { headers, body, stopping: state.stopping.signal });
    const delivery: Delivery = { url: webhook.url, body, ...answer, at: new Date().toISOString() };
    deliveries.push(delivery);
    state.deliveries.push(delivery);
  }
  return deliveries;
}

/** Later, an order meets its end and its event goes out, unless somebody has ended it otherwise by then. */
export function settleLater(state: SimulatorState, order: Order, later: LaterEvent): void {
  state.timers.after(state.settings.delayedOutcomeMs, () => {
    state.settle(order, later.status);
    if (order.status === later.status) void sendEvent(state, eventOf(order, later.status), { copies: later.copies });
  });
}

type Parcel = { headers: Headers; body: string; stopping: AbortSignal };

async function post(url: string, { headers, body, stopping }: Parcel): Promise<Pick<Delivery, "status" | "error">> {
  try {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(ACKNOWLEDGE_MS)]);
    const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal });
    await response.body?.cancel();
    return { status: response.status, error: null };
  } catch (error) {
    return { status: null, error: error instanceof Error ? error.message : String(error) };
  }
}
