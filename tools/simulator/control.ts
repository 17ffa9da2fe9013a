import * as z from "zod";
import { builtInCatalogBody } from "./catalog.ts";
import { faultSchema } from "./faults.ts";
import { HttpError, type JsonResponse, parseJson, type RequestBody } from "./http.ts";
import type { SimulatorState } from "./state.ts";
import { orderEvent, sendEvent } from "./webhooks.ts";

const faultsBody = z.strictObject({ faults: z.array(faultSchema) });
const walletBody = z.strictObject({ balance_kobo: z.int().min(0) });
const sendOptions = { copies: z.int().min(1).max(20).optional(), signature: z.string().nullable().optional() };

/** The event of a known order; `changes` replaces fields of its `data`. */
const orderEventBody = z.strictObject({
  reference: z.string(),
  status: z.string(),
  changes: z.record(z.string(), z.unknown()).optional(),
  ...sendOptions,
});

/** Any JSON value as the event. */
const rawEventBody = z.strictObject({ event: z.json(), ...sendOptions });
const hasEvent = z.object({ event: z.unknown().refine((event) => event !== undefined) });

type Control = (state: SimulatorState, body: RequestBody) => JsonResponse | Promise<JsonResponse>;

const ok = (body: unknown): JsonResponse => ({ status: 200, body });

const showWallet: Control = ({ balanceKobo }) =>
  ok({ balance_kobo: balanceKobo, balance: balanceKobo / 100, currency: "NGN" });

const showFaults: Control = ({ faults }) => ok({ faults: faults.list() });

/** The key is left out, so the control API cannot leak it. */
const showPurchases: Control = ({ purchases }) =>
  ok({
    purchases: purchases.map(
      ({ keyUsed: _key, upstreamReference, amountKobo, networkName, phoneNumber, ...order }) => ({
        ...order,
        upstream_reference: upstreamReference,
        amount_kobo: amountKobo,
        network_name: networkName,
        phone_number: phoneNumber,
      }),
    ),
  });

/** An event about an open order also settles it; about a settled one it is only sent, so events can contradict. */
const sendControlledEvent: Control = async (state, body) => {
  if (hasEvent.safeParse(parseJson(body)).success) {
    const { event, ...options } = parseControl(rawEventBody, body);
    requireWebhook(state);
    return ok({ deliveries: await sendEvent(state, event, options) });
  }
  const { reference, status, changes, ...options } = parseControl(orderEventBody, body);
  requireWebhook(state);
  const order = state.purchases.find((known) => known.upstreamReference === reference || known.reference === reference);
  if (order === undefined) throw new HttpError(404, `No order has the reference ${reference}.`);
  if (status === "success" || status === "failed") state.settle(order, status);
  return ok({ deliveries: await sendEvent(state, orderEvent(order, status, changes), options) });
};

const requireWebhook = (state: SimulatorState): void => {
  if (state.webhook === undefined) throw new HttpError(409, "No webhook is configured, so no event can be sent.");
};

const parseControl = <Schema extends z.ZodType>(schema: Schema, body: RequestBody): z.infer<Schema> => {
  const parsed = schema.safeParse(parseJson(body));
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "body"}: ${message}`);
  throw new HttpError(400, `The control request is invalid. ${issues.join(". ")}.`);
};

/** The control API by method and path below /_simulator. It is not part of docs/interface.md. */
const controls: ReadonlyMap<string, Control> = new Map<string, Control>([
  ["GET /requests", (state) => ok({ requests: state.requests })],
  ["GET /purchases", showPurchases],
  ["GET /events", (state) => ok({ deliveries: state.deliveries })],
  ["GET /wallet", showWallet],
  ["GET /faults", showFaults],
  [
    "PUT /wallet",
    (state, body) => {
      state.balanceKobo = parseControl(walletBody, body).balance_kobo;
      return showWallet(state, body);
    },
  ],
  [
    "PUT /faults",
    (state, body) => {
      const { faults } = parseControl(faultsBody, body);
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
      state.catalogBody = parseControl(z.json(), body);
      return ok({ message: "The catalog is replaced." });
    },
  ],
  [
    "DELETE /catalog",
    (state) => {
      state.catalogBody = builtInCatalogBody();
      return ok({ message: "The built-in catalog is restored." });
    },
  ],
  ["POST /events", sendControlledEvent],
  [
    "POST /reset",
    (state) => {
      state.reset();
      return ok({ message: "The simulator is reset." });
    },
  ],
]);

/** Handles one request to the control API; an error's `message` says what is wrong with the request. */
export const handleControl = async (state: SimulatorState, route: string, body: RequestBody): Promise<JsonResponse> => {
  const control = controls.get(route);
  if (control !== undefined) return control(state, body);
  throw new HttpError(404, `There is no ${route}. There are: ${[...controls.keys()].join(", ")}.`);
};
