import type { Call } from "../call/call.ts";
import { invalid } from "../call/invalid.ts";
import { sellablePlans } from "../catalog/sellable-plans.ts";
import type { PlanIndex } from "../catalog/snapshot.ts";
import type { DataPlan, Network } from "../contract/catalog.ts";
import { ServiceError } from "../contract/errors.ts";
import { koboFromNaira } from "../contract/money.ts";
import type { DataPurchaseRequest } from "../contract/purchase.ts";
import { refusalOf } from "../orders/place-order.ts";
import { mayBeQueued } from "../queued-orders/queue-policy.ts";
import type { OrderQuote } from "../queued-orders/send-purchase.ts";
import { type PurchaseDeps, placePurchase } from "./place-purchase.ts";
import { purchaseResponse } from "./purchase-response.ts";

/** Keeps the transaction's item below 1 KB. */
const BUNDLE_NAME_LENGTH_MAX = 90;

type DataCall = Pick<Call<DataPurchaseRequest>, "input" | "caller" | "deadline">;

/** POST /vtu/data/purchase. */
export const buyData = (deps: PurchaseDeps) => async (call: DataCall) => {
  const { input, caller, deadline } = call;
  const { network_id: networkId, plan_id: planId, phone_number: phoneNumber, reference: callerReference } = input;
  const fields = [String(networkId), String(planId), phoneNumber];
  const quote = await quoteData(deps, call).catch(refusalOf);
  return purchaseResponse(
    await placePurchase(deps, { caller, type: "data", callerReference, fields }, quote, deadline),
  );
};

/** Prices the order; throws a ServiceError to refuse it before the debit. */
const quoteData = async (deps: PurchaseDeps, { input, caller, deadline }: DataCall): Promise<OrderQuote> => {
  const quote = quotePlan(await sellablePlans(deps.catalog, caller.mode, deps.ledger.clock), input);
  await deps.upstreams[caller.mode].assertReady(quote.order, deadline, { mayWait: mayBeQueued(deps, caller.mode) });
  return quote;
};

const quotePlan = (
  { networks, plans }: PlanIndex,
  { network_id, plan_id, phone_number }: DataPurchaseRequest,
): OrderQuote => {
  const network = networks.get(network_id);
  if (network === undefined) throw invalid({ network_id: ["Is no network of the catalog"] });
  const plan = plans.get(plan_id);
  if (plan === undefined) throw planUnavailable("Is no plan of the catalog");
  if (plan.network_id !== network_id) throw planUnavailable("Belongs to another network");
  return {
    order: { kind: "data", networkId: network_id, planId: plan_id, phoneNumber: phone_number },
    amountKobo: koboFromNaira(plan.price),
    description: `${bundleName(network, plan).slice(0, BUNDLE_NAME_LENGTH_MAX)} data for ${phone_number}`,
    network: network.name,
    phoneNumber: phone_number,
  };
};

/** The names of network and plan; the plan's alone if it begins with the network's as a whole word. */
const bundleName = ({ name: network }: Network, { name: plan }: DataPlan): string => {
  const namesNetwork = plan.toLowerCase().startsWith(network.toLowerCase());
  const isWhole = !/^[\p{L}\p{N}]/u.test(plan.slice(network.length));
  return namesNetwork && isWhole ? plan : `${network} ${plan}`;
};

const planUnavailable = (message: string): ServiceError =>
  new ServiceError("plan_unavailable", { fields: { plan_id: [message] } });
