import * as z from "zod";
import { builtInCatalogBody } from "./catalog.ts";
import { faultSchema } from "./faults.ts";
import type { SimulatorState } from "./state.ts";
import { eventOf, sendEvent } from "./webhooks.ts";
import { type Answer, parseJson, Refusal, type RequestBody } from "./wire.ts";

const faultsBody = z.strictObject({ faults: z.array(faultSchema) });
const walletBody = z.strictObject({ balanceKobo: z.int().min(0) });
const sending = { copies: z.int().min(1).max(20).optional(), signature: z.string().nullable().optional() };

/** The event of a known order, with fields of its `data` replaced by `changes`. */
const orderEventBody = z.strictObject({
  reference: z.string(),
  status: z.string(),
  changes: z.record(z.string(), z.unknown()).optional(),
  ...sending,
});

/** Any JSON at all as the event. */
const rawEventBody = z.strictObject({ event: z.json(), ...sending });
const isRaw = z.object({ event: z.unknown().refine((event) => event !== undefined) });

type Control = (state: SimulatorState, body: RequestBody) => Answer | Promise<Answer>;

const ok = (body: unknown): Answer => ({ status: 200, body });

const showWallet: Control = (state) =>
  ok({ balanceKobo: state.balanceKobo, balance: state.balanceKobo / 100, currency: "NGN" });
const showFaults: Control = (state) => ok({ faults: state.faults.list() });

/** What can be done by method and path below /_simulator. It is no part of INTERFACE.md. */
const controls: ReadonlyMap<string, Control> = new Map<string, Control>([
  ["GET /requests", (state) => ok({ requests: state.requests })],
  ["GET /purchases", (state) => ok({ purchases: state.purchases.map(({ keyUsed: _key, ...order }) => order) })],
  ["GET /events", (state) => ok({ deliveries: state.deliveries })],
  ["GET /wallet", showWallet],
  ["GET /faults", showFaults],
  [
    "PUT /wallet",
    (state, body) => {
      state.balanceKobo = readControl(walletBody, body).balanceKobo;
      return showWallet(state, body);
    },
  ],
  [
    "PUT /faults",
    (state, body) => {
      const { faults } = readControl(faultsBody, body);
      state.faults.clear();
      state.faults.add(...faults);
      return showFaults(state, body);
    },
  ],
  [
    "DELETE /faults",
    (state, body) => {
      state.faults.clear();
      return showFaults(state, body);
    },
  ],
  [
    "PUT /catalog",
    (state, body) => {
      state.catalogBody = readControl(z.json(), body);
      return ok({ message: "The catalog is replaced." });
    },
  ],
  [
    "DELETE /catalog",
    (state) => {
      state.catalogBody = builtInCatalogBody();
      return ok({ message: "The built-in catalog is back." });
    },
  ],
  ["POST /events", sendChosenEvent],
  [
    "POST /reset",
    (state) => {
      state.reset();
      return ok({ message: "The simulator is as new." });
    },
  ],
]);

/** Answers one request to the control API; what is wrong with it comes back as a sentence in `message`. */
export async function answerControl(state: SimulatorState, route: string, body: RequestBody): Promise<Answer> {
  const control = controls.get(route);
  if (control !== undefined) return control(state, body);
  throw new Refusal(404, `There is no ${route}. There are: ${[...controls.keys()].join(", ")}.`);
}

/** An event about an open order also ends it; about a closed one it is only sent, so that events can contradict. */
async function sendChosenEvent(state: SimulatorState, body: RequestBody): Promise<Answer> {
  if (isRaw.safeParse(parseJson(body)).success) {
    const { event, ...options } = readControl(rawEventBody, body);
    requireWebhook(state);
    return ok({ deliveries: await sendEvent(state, event, options) });
  }
  const { reference, status, changes, ...options } = readControl(orderEventBody, body);
  requireWebhook(state);
  const order = state.purchases.find((known) => known.upstreamReference === reference || known.reference === reference);
  if (order === undefined) throw new Refusal(404, `No order has the reference ${reference}.`);
  if (status === "success" || status === "failed") state.settle(order, status);
  return ok({ deliveries: await sendEvent(state, eventOf(order, status, changes), options) });
}

function requireWebhook(state: SimulatorState): void {
  if (state.webhook === undefined) throw new Refusal(409, "No webhook is configured, so no event can be sent.");
}

function readControl<Schema extends z.ZodType>(schema: Schema, body: RequestBody): z.infer<Schema> {
  const read = schema.safeParse(parseJson(body));
  if (read.success) return read.data;
  const complaints = read.error.issues.map(({ path, message }) => `${path.join(".") || "body"}: ${message}`);
  throw new Refusal(400, `This control does not take that. ${complaints.join(". ")}.`);
}
