import type { Caller, RateGroup } from "./access.ts";
import { catalogForSale } from "./catalog.ts";
import {
  airtimePurchaseFields,
  bvnVerificationFields,
  dataPurchaseFields,
  ninVerificationFields,
  readFields,
  retrievalFields,
  toKobo,
} from "./fields.ts";
import { type Ask, fulfil, type Reply } from "./fulfilment.ts";
import { identityOutcome, purchaseOutcome } from "./outcomes.ts";
import { type IdentityKind, identityRecord } from "./people.ts";
import type { Order, SimulatorState } from "./state.ts";
import { Refusal, successEnvelope } from "./wire.ts";

type Call = { state: SimulatorState; path: string; caller: Caller; body: unknown };
type Route = { group: RateGroup; run: (call: Call) => Reply };

/**
 * Prices in kobo; a retrieval costs more than a verification (INTERFACE "retrieve"). They are those of the local service and of the
 * stages: another price than ours raises an alarm.
 */
const identityPricesKobo = {
  nin: { basic: 150_00, advanced: 250_00, retrieve: 400_00 },
  bvn: { basic: 100_00, advanced: 200_00, retrieve: 300_00 },
} as const;

/** The seven endpoints, by method and path below /v1. Source: INTERFACE "Endpoints". */
export const routes: ReadonlyMap<string, Route> = new Map<string, Route>([
  ["GET /vtu/data", { group: "catalog", run: listCatalog }],
  ["POST /vtu/data/purchase", { group: "vtu", run: buyData }],
  ["POST /vtu/airtime/purchase", { group: "vtu", run: buyAirtime }],
  ["POST /identity/nin/verify", { group: "identity", run: verifyNin }],
  ["POST /identity/bvn/verify", { group: "identity", run: verifyBvn }],
  ["POST /identity/nin/retrieve", { group: "identity", run: (call) => retrieve(call, "nin") }],
  ["POST /identity/bvn/retrieve", { group: "identity", run: (call) => retrieve(call, "bvn") }],
]);

/** Source: INTERFACE "GET /vtu/data". */
function listCatalog({ state }: Call): Reply {
  return { kind: "answer", body: state.catalogBody };
}

/** Source: INTERFACE "POST /vtu/data/purchase". */
function buyData(call: Call): Reply {
  const order = readFields(dataPurchaseFields, call.body);
  const { networks, data_plans } = catalogForSale(call.state.catalogBody);
  const network = networks.find(({ id }) => id === order.network_id);
  const plan = data_plans.find(({ id }) => id === order.plan_id);
  if (network === undefined) throw invalid("network_id", "The selected network does not exist.");
  if (plan === undefined) throw invalid("plan_id", "The selected plan does not exist.");
  if (plan.network_id !== network.id) throw invalid("plan_id", "The selected plan does not belong to the network.");
  return fulfil(call, {
    type: "data",
    prefix: "DATA",
    amountKobo: toKobo(plan.price),
    reference: order.reference,
    networkName: network.name,
    phoneNumber: order.phone_number,
    outcome: purchaseOutcome(order.phone_number),
    subjectField: "phone_number",
    answer: purchaseAnswer(`${network.name} ${plan.name} data to ${order.phone_number}`),
  });
}

/** Source: INTERFACE "POST /vtu/airtime/purchase"; its answer is not shown and follows that of data. */
function buyAirtime(call: Call): Reply {
  const order = readFields(airtimePurchaseFields, call.body);
  const { networks } = catalogForSale(call.state.catalogBody);
  const network = networks.find(({ code }) => code === order.network.toLowerCase());
  if (network === undefined) throw invalid("network", "The selected network is not supported.");
  return fulfil(call, {
    type: "airtime",
    prefix: "AIRTIME",
    amountKobo: toKobo(order.amount),
    reference: order.reference,
    networkName: network.name,
    phoneNumber: order.phone_number,
    outcome: purchaseOutcome(order.phone_number),
    subjectField: "phone_number",
    answer: purchaseAnswer(`${network.name} ${order.amount} NGN airtime to ${order.phone_number}`),
  });
}

/** Source: INTERFACE "POST /identity/nin/verify". */
function verifyNin(call: Call): Reply {
  const { nin, mode, reference } = readFields(ninVerificationFields, call.body);
  return fulfil(call, identityAsk({ kind: "nin", detail: mode, subject: nin, reference }));
}

/** Source: INTERFACE "POST /identity/bvn/verify". */
function verifyBvn(call: Call): Reply {
  const { bvn, mode, reference } = readFields(bvnVerificationFields, call.body);
  return fulfil(call, identityAsk({ kind: "bvn", detail: mode, subject: bvn, reference }));
}

/** Source: INTERFACE "POST /identity/nin/retrieve and POST /identity/bvn/retrieve". */
function retrieve(call: Call, kind: IdentityKind): Reply {
  const { phone_number, reference } = readFields(retrievalFields, call.body);
  return fulfil(call, identityAsk({ kind, detail: "retrieve", subject: phone_number, reference }));
}

type IdentityCheck = {
  kind: IdentityKind;
  detail: "basic" | "advanced" | "retrieve";
  subject: string;
  reference: string | undefined;
};

function identityAsk({ kind, detail, subject, reference }: IdentityCheck): Ask {
  const isRetrieval = detail === "retrieve";
  const outcome = identityOutcome(subject);
  const minimal = outcome.kind === "answer" && outcome.minimalRecord === true;
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
    answer: (order) =>
      successEnvelope(`${title} successful.`, {
        transaction: { title, ...transactionOf(order) },
        result: identityRecord({ kind, detail, subject, minimal }),
      }),
  };
}

function purchaseAnswer(description: string): (order: Order) => unknown {
  return (order) =>
    successEnvelope(order.status === "success" ? "Purchase successful." : "Purchase is being processed.", {
      transaction: { ...transactionOf(order), description },
    });
}

/** Source: INTERFACE "Transaction". */
function transactionOf(order: Order) {
  return { reference: order.upstreamReference, status: order.status, amount: order.amountKobo / 100 };
}

function invalid(field: string, message: string): Refusal {
  return new Refusal(422, "The given data was invalid.", { [field]: [message] });
}
