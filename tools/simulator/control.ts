import * as z from "#zod";
import { builtInCatalogBody } from "./catalog.ts";
import { faultSchema } from "./faults.ts";
import { HttpError, type JsonResponse, parseJson, type RequestBody } from "./http.ts";
import type { SimulatorState } from "./state.ts";
import { sendEvent, sentEvent } from "./webhooks.ts";

const faultsBody = z.strictObject({ faults: z.array(faultSchema) });
const walletBody = z.strictObject({ balance_kobo: z.int().check(z.minimum(0)) });
const sendOptions = {
  copies: z.optional(z.int().check(z.minimum(1), z.maximum(20))),
  signature: z.optional(z.nullable(z.string())),
};

/** The event of a known order; `changes` replaces fields of its `data`. */
const orderEventBody = z.strictObject({
  reference: z.string(),
  status: z.string(),
  changes: z.optional(z.record(z.string(), z.unknown())),
  ...sendOptions,
});

/** Any JSON value as the event. */
const rawEventBody = z.strictObject({ event: z.json(), ...sendOptions });
const hasEvent = z.object({ event: z.unknown().check(z.refine((event) => event !== undefined)) });

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
  return ok({ deliveries: await sendEvent(state, sentEvent(state, order, status, changes), options) });
};

const requireWebhook = (state: SimulatorState): void => {
  if (state.webhook === undefined) throw new HttpError(409, "No webhook is configured, so no event can be sent.");
};

const parseControl = <Schema extends z.ZodMiniType>(schema: Schema, body: RequestBody): z.infer<Schema> => {
  const parsed = schema.safeParse(parseJson(body));
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "body"}: ${message}`);
  throw new HttpError(400, `The control request is invalid. ${issues.join(". ")}.`);
};

type Operation = { readonly summary: string; readonly body?: z.ZodMiniType; readonly run: Control };

/** The control API by method and path below /_simulator. It is not part of docs/interface.md. */
const operations: Readonly<Record<string, Operation>> = {
  "GET /help": { summary: "This list, with the JSON schema of each body", run: () => ok(help()) },
  "GET /requests": {
    summary: "The requests that the upstream got",
    run: (state) => ok({ requests: state.requests }),
  },
  "GET /purchases": { summary: "The orders that the upstream has, and how each ended", run: showPurchases },
  "GET /events": { summary: "The events that the upstream sent", run: (state) => ok({ deliveries: state.deliveries }) },
  "POST /events": {
    summary: "Send an event about an order, which ends it if it is open; or any JSON as an event",
    body: z.union([orderEventBody, rawEventBody]),
    run: sendControlledEvent,
  },
  "GET /wallet": { summary: "The service's balance at the upstream", run: showWallet },
  "PUT /wallet": {
    summary: "Set that balance",
    body: walletBody,
    run: (state, body) => {
      state.balanceKobo = parseControl(walletBody, body).balance_kobo;
      return showWallet(state, body);
    },
  },
  "GET /faults": { summary: "The faults that wait for a request", run: showFaults },
  "PUT /faults": {
    summary: "Replace the faults: each spoils as many of the next requests as it says",
    body: faultsBody,
    run: (state, body) => {
      const { faults } = parseControl(faultsBody, body);
      state.faults.clear();
      state.faults.add(...faults);
      return showFaults(state, body);
    },
  },
  "DELETE /faults": {
    summary: "Remove the faults",
    run: (state, body) => {
      state.faults.clear();
      return showFaults(state, body);
    },
  },
  "PUT /catalog": {
    summary: "Answer requests for the catalog with this JSON",
    body: z.json(),
    run: (state, body) => {
      state.catalogBody = parseControl(z.json(), body);
      return ok({ message: "The catalog is replaced." });
    },
  },
  "DELETE /catalog": {
    summary: "Answer them with the built-in catalog again",
    run: (state) => {
      state.catalogBody = builtInCatalogBody();
      return ok({ message: "The built-in catalog is restored." });
    },
  },
  "POST /reset": {
    summary: "Forget orders, requests, events and faults, and restore balance and catalog",
    run: (state) => {
      state.reset();
      return ok({ message: "The simulator is reset." });
    },
  },
};

const help = () => ({
  operations: Object.entries(operations).map(([route, { summary, body }]) => ({
    route,
    summary,
    ...(body && { body: z.toJSONSchema(body, { io: "input", unrepresentable: "any" }) }),
  })),
});

/** Handles one request to the control API; an error's `message` says what is wrong with the request. */
export const handleControl = async (state: SimulatorState, route: string, body: RequestBody): Promise<JsonResponse> => {
  const operation = Object.hasOwn(operations, route) ? operations[route] : undefined;
  if (operation !== undefined) return operation.run(state, body);
  throw new HttpError(404, `There is no ${route}. There are: ${Object.keys(operations).join(", ")}.`);
};
