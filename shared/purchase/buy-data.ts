import type { Call, Caller } from "../call/call.ts";
import { invalid } from "../call/invalid.ts";
import type { PlanIndex } from "../catalog/plan-index.ts";
import { sellablePlans } from "../catalog/sellable-plans.ts";
import type { DataPlan, Network } from "../contract/catalog.ts";
import { ServiceError } from "../contract/errors.ts";
import type { DataPurchaseRequest } from "../contract/purchase.ts";
import { type Kobo, koboFromNaira, nairaFromKobo } from "../contract/values/money.ts";
import { refusalOf } from "../orders/place-order.ts";
import { priceOrder } from "../prices/price-order.ts";
import { mayBeQueued } from "../queued-orders/queue-policy.ts";
import type { OrderQuote } from "../queued-orders/send-purchase.ts";
import { type PurchaseCall, type PurchaseDeps, placePurchase } from "./place-purchase.ts";
import { purchaseResponse } from "./purchase-response.ts";

type DataCall = PurchaseCall & Pick<Call<DataPurchaseRequest>, "input">;

/** POST /vtu/data/purchase. */
export const buyData = (deps: PurchaseDeps) => async (call: DataCall) => {
  const { input, caller } = call;
  const { network_id: networkId, plan_id: planId, phone_number: phoneNumber, reference: callerReference } = input;
  const fields = [String(networkId), String(planId), phoneNumber];
  const quote = await quoteData(deps, call).catch(refusalOf);
  return purchaseResponse(await placePurchase(deps, { caller, type: "data", callerReference, fields }, quote, call));
};

/** Prices the order; throws a ServiceError to refuse it before the debit. */
const quoteData = async (deps: PurchaseDeps, { input, caller, deadline }: DataCall): Promise<OrderQuote> => {
  const quote = await quotePlan(deps, caller, await sellablePlans(deps.catalog, caller.mode, deps.ledger.clock), input);
  await deps.upstreams[caller.mode].assertReady(quote.order, deadline, { mayWait: mayBeQueued(deps, caller.mode) });
  return quote;
};

const quotePlan = async (
  deps: PurchaseDeps,
  caller: Caller,
  { networks, plans }: PlanIndex,
  { network_id, plan_id, phone_number, expected_price }: DataPurchaseRequest,
): Promise<OrderQuote> => {
  const network = networks.get(network_id);
  if (network === undefined) throw invalid({ network_id: ["Is no network of the catalog"] });
  const plan = plans.get(plan_id);
  if (plan === undefined) throw planUnavailable("Is no plan of the catalog");
  if (plan.network_id !== network_id) throw planUnavailable("Belongs to another network");
  const faceKobo = koboFromNaira(plan.price);
  const price = await priceOrder(deps, caller, { kind: "data", network: network.code, planId: plan_id, faceKobo });
  if (expected_price !== undefined) assertExpected(koboFromNaira(expected_price), price.amountKobo);
  return {
    order: { kind: "data", networkId: network_id, planId: plan_id, phoneNumber: phone_number },
    ...price,
    description: `${bundleName(network, plan)} data for ${phone_number}`,
    network: network.name,
    networkCode: network.code,
    phoneNumber: phone_number,
  };
};

/** Keeps the transaction's item below 1 KB. */
const BUNDLE_NAME_LENGTH_MAX = 90;

/** The names of network and plan; the plan's alone if it begins with the network's as a whole word. */
export const bundleName = (
  { name: network }: Pick<Network, "name">,
  { name: plan }: Pick<DataPlan, "name">,
): string => {
  const namesNetwork = plan.toLowerCase().startsWith(network.toLowerCase());
  const isWhole = !/^[\p{L}\p{N}]/u.test(plan.slice(network.length));
  const name = namesNetwork && isWhole ? plan : `${network} ${plan}`;
  return name.slice(0, BUNDLE_NAME_LENGTH_MAX).toWellFormed();
};

/** The expected price is no part of the order: its replay is answered at any price (docs/interface.md 10.D4). */
const assertExpected = (expected: Kobo, price: Kobo): void => {
  if (expected === price) return;
  const is = `The price is ${nairaFromKobo(price)} NGN`;
  throw new ServiceError("price_changed", {
    message: `${is}, not ${nairaFromKobo(expected)} NGN; nothing was charged`,
    fields: { expected_price: [is] },
  });
};

const planUnavailable = (message: string): ServiceError =>
  new ServiceError("plan_unavailable", { fields: { plan_id: [message] } });
