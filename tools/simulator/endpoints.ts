import type * as z from "#zod";
import type { RateGroup } from "./access.ts";
import { purchasableCatalog } from "./catalog.ts";
import {
  airtimePurchaseFields,
  bvnVerificationFields,
  dataPurchaseFields,
  ninVerificationFields,
  parseFields,
  refuseReference,
  retrievalFields,
  toKobo,
  virtualNinVerificationFields,
  type withReference,
} from "./fields.ts";
import { type Call, fulfil, type OrderRequest, type Result } from "./fulfilment.ts";
import { HttpError, invalidField, successEnvelope } from "./http.ts";
import { identityOutcome, purchaseOutcome } from "./outcomes.ts";
import { type IdentityKind, identityRecord } from "./people.ts";
import type { Order } from "./state.ts";

type Route = { readonly group: RateGroup; readonly run: (call: Call) => Result };

/**
 * A retrieval costs more than a verification (docs/interface.md 12.5). The prices are those of the local service and of
 * the stages, because a price that differs from the service's own raises an alarm.
 */
const identityPricesKobo = {
  nin: { basic: 150_00, advanced: 250_00, retrieve: 400_00 },
  bvn: { basic: 100_00, advanced: 200_00, retrieve: 300_00 },
} as const;

/** Source: docs/interface.md 9.1. */
const listCatalog = ({ state }: Call): Result => ({ kind: "response", body: state.catalogBody });

/** Reads an order of a kind for which the document does not show the caller's reference. */
const parseOrder = <Fields extends z.ZodMiniObject<typeof withReference>>(
  { state: { settings }, body }: Call,
  fields: Fields,
): z.infer<Fields> => {
  const isStrict = settings.manner === "strict";
  if (isStrict && settings.references === "documented") refuseReference(body);
  return parseFields(fields, body, isStrict);
};

/** Source: docs/interface.md 10.1. */
const buyData = (call: Call): Result => {
  const order = parseFields(dataPurchaseFields, call.body, call.state.settings.manner === "strict");
  const { networks, data_plans } = purchasableCatalog(call.state.catalogBody);
  const network = networks.find(({ id }) => id === order.network_id);
  const plan = data_plans.find(({ id }) => id === order.plan_id);
  if (network === undefined) throw invalidField("network_id", "The selected network does not exist.");
  if (plan === undefined) throw invalidField("plan_id", "The selected plan does not exist.");
  if (plan.network_id !== network.id) {
    throw invalidField("plan_id", "The selected plan does not belong to the network.");
  }
  return fulfil(call, purchaseOf("data", order, network.name, plan.price, `${plan.name} data`));
};

/** Source: docs/interface.md 11.1, 16.D2. */
const buyAirtime = (call: Call): Result => {
  const order = parseOrder(call, airtimePurchaseFields);
  const { networks } = purchasableCatalog(call.state.catalogBody);
  const network = networks.find(({ code }) => code === order.network.toLowerCase());
  if (network === undefined) throw invalidField("network", "The selected network is not supported.");
  return fulfil(call, purchaseOf("airtime", order, network.name, order.amount, `${order.amount} NGN airtime`));
};

/** Source: docs/interface.md 12.1. */
const verifyNin = (call: Call): Result => {
  const { virtualNin } = call.state.settings;
  const { nin, mode, reference } = parseOrder(call, virtualNin ? virtualNinVerificationFields : ninVerificationFields);
  // Any letter case names the same person.
  return fulfil(call, identityRequest({ kind: "nin", detail: mode, subject: nin.toUpperCase(), reference }));
};

/** Source: docs/interface.md 12.1. */
const verifyBvn = (call: Call): Result => {
  const { bvn, mode, reference } = parseOrder(call, bvnVerificationFields);
  return fulfil(call, identityRequest({ kind: "bvn", detail: mode, subject: bvn, reference }));
};

/** Source: docs/interface.md 12.2. */
const retrieve = (call: Call, kind: IdentityKind): Result => {
  const { phone_number, reference } = parseOrder(call, retrievalFields);
  return fulfil(call, identityRequest({ kind, detail: "retrieve", subject: phone_number, reference }));
};

/**
 * One order, by the caller's reference or by ours. The document says that this exists and does not show it.
 */
const showOrder = ({ state, path, caller }: Call): Result => {
  const reference = decoded(path.slice(ORDERS_PATH.length));
  const order = reference && state.findOrder(caller.mode, reference);
  if (!order) throw new HttpError(404, "The transaction was not found.");
  const transaction = {
    ...transactionOf(order),
    ...(order.reference !== null && { client_reference: order.reference }),
    type: order.type,
    phone_number: order.phoneNumber,
    ...state.lookupChanges.get(reference),
  };
  return { kind: "response", body: successEnvelope("The transaction was found.", { transaction }) };
};
const ORDERS_PATH = "/transactions/";

/** Undefined if it is malformed. */
const decoded = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
};

/** Our balance, in the same way. A test key sees that of the beginning, which test orders do not change. */
const showWallet = ({ state, caller }: Call): Result => {
  const kobo = caller.mode === "live" ? state.balanceKobo : state.settings.startBalanceKobo;
  return {
    kind: "response",
    body: successEnvelope("The wallet was found.", { wallet: { currency: "NGN", balance: kobo / 100 } }),
  };
};

/** The route of a request, by its method and its path below /v1. */
export const routeFor = (method: string, path: string): Route | undefined =>
  method === "GET" && path.startsWith(ORDERS_PATH)
    ? { group: "catalog", run: showOrder }
    : routes.get(`${method} ${path}`);

/** By method and path below /v1: the seven endpoints that the document shows (docs/interface.md 1.6, 16.1), and the wallet. */
const routes: ReadonlyMap<string, Route> = new Map<string, Route>([
  ["GET /wallet", { group: "catalog", run: showWallet }],
  ["GET /vtu/data", { group: "catalog", run: listCatalog }],
  ["POST /vtu/data/purchase", { group: "vtu", run: buyData }],
  ["POST /vtu/airtime/purchase", { group: "vtu", run: buyAirtime }],
  ["POST /identity/nin/verify", { group: "identity", run: verifyNin }],
  ["POST /identity/bvn/verify", { group: "identity", run: verifyBvn }],
  ["POST /identity/nin/retrieve", { group: "identity", run: (call) => retrieve(call, "nin") }],
  ["POST /identity/bvn/retrieve", { group: "identity", run: (call) => retrieve(call, "bvn") }],
]);

type IdentityCheck = {
  readonly kind: IdentityKind;
  readonly detail: "basic" | "advanced" | "retrieve";
  readonly subject: string;
  readonly reference: string | undefined;
};

const identityRequest = ({ kind, detail, subject, reference }: IdentityCheck): OrderRequest => {
  const isRetrieval = detail === "retrieve";
  const outcome = identityOutcome(subject, isRetrieval);
  const minimal = outcome.kind === "respond" && outcome.minimalRecord === true;
  const title = `${kind.toUpperCase()} ${isRetrieval ? "Retrieval" : "Verification"}`;
  return {
    type: `${kind}_${isRetrieval ? "retrieval" : "verification"}`,
    prefix: isRetrieval ? "RETRIEVE" : "VERIFY",
    amountKobo: identityPricesKobo[kind][detail],
    reference,
    networkName: null,
    phoneNumber: isRetrieval ? subject : null,
    outcome,
    subjectField: isRetrieval ? "phone_number" : kind,
    responseBody: (order) =>
      successEnvelope(`${title} successful.`, {
        transaction: { title, ...transactionOf(order) },
        result: identityRecord({ kind, detail, subject, minimal }),
      }),
  };
};

const purchaseOf = (
  type: "data" | "airtime",
  { reference, phone_number }: { readonly reference?: string | undefined; readonly phone_number: string },
  networkName: string,
  naira: number,
  what: string,
): OrderRequest => ({
  ...{ type, prefix: type.toUpperCase(), amountKobo: toKobo(naira), reference, networkName, phoneNumber: phone_number },
  ...{ outcome: purchaseOutcome(phone_number), subjectField: "phone_number" },
  responseBody: (order) =>
    successEnvelope(order.status === "success" ? "Purchase successful." : "Purchase is being processed.", {
      transaction: { ...transactionOf(order), description: `${networkName} ${what} to ${phone_number}` },
    }),
});

/** Source: docs/interface.md 8.6, 8.7. */
const transactionOf = ({ upstreamReference, status, amountKobo }: Order) => ({
  reference: upstreamReference,
  status,
  amount: amountKobo / 100,
});
