import type { Call } from "../call/call.ts";
import { invalid } from "../call/invalid.ts";
import { sellablePlans } from "../catalog/sellable-plans.ts";
import type { Network } from "../contract/catalog.ts";
import type { AirtimePurchaseRequest } from "../contract/purchase.ts";
import { type Kobo, koboFromNaira, moneyText, nairaFromKobo } from "../contract/values/money.ts";
import { isSameNetwork, networkNames } from "../contract/values/network-names.ts";
import { refusalOf } from "../orders/place-order.ts";
import { priceOrder } from "../prices/price-order.ts";
import { mayBeQueued } from "../queued-orders/queue-policy.ts";
import type { OrderQuote } from "../queued-orders/send-purchase.ts";
import type { UpstreamOrder } from "../upstream/upstream.ts";
import { type PurchaseCall, type PurchaseDeps, placePurchase } from "./place-purchase.ts";
import { purchaseResponse } from "./purchase-response.ts";

export type AirtimeDeps = PurchaseDeps & { readonly airtimeKoboMax: Kobo };
type AirtimeCall = PurchaseCall & Pick<Call<AirtimePurchaseRequest>, "input">;

/** POST /vtu/airtime/purchase. */
export const buyAirtime = (deps: AirtimeDeps) => async (call: AirtimeCall) => {
  const { input, caller } = call;
  const { phone_number: phoneNumber, reference: callerReference } = input;
  const fields = [networkNames(input.network).join(), String(koboFromNaira(input.amount)), phoneNumber];
  const quote = await quoteAirtime(deps, call).catch(refusalOf);
  return purchaseResponse(await placePurchase(deps, { caller, type: "airtime", callerReference, fields }, quote, call));
};

/** Prices the order; throws a ServiceError to refuse it before the debit. */
const quoteAirtime = async (deps: AirtimeDeps, { input, caller, deadline }: AirtimeCall): Promise<OrderQuote> => {
  const { phone_number: phoneNumber } = input;
  const faceKobo = koboFromNaira(input.amount);
  assertAllowed(faceKobo, deps.airtimeKoboMax);
  const plans = await sellablePlans(deps.catalog, caller.mode, deps.ledger.clock);
  const network = findNetwork(input.network, [...plans.networks.values()]);
  const order: UpstreamOrder = { kind: "airtime", network: network.code, amountKobo: faceKobo, phoneNumber };
  await deps.upstreams[caller.mode].assertReady(order, deadline, { mayWait: mayBeQueued(deps, caller.mode) });
  const price = await priceOrder(deps, caller, { kind: "airtime", network: network.code, faceKobo });
  const topUp = price.amountKobo === faceKobo ? "airtime" : `airtime of ${moneyText(input.amount)}`;
  return {
    order,
    ...price,
    description: `${network.name} ${topUp} for ${phoneNumber}`,
    network: network.name,
    networkCode: network.code,
    phoneNumber,
  };
};

const assertAllowed = (amount: Kobo, max: Kobo): void => {
  if (amount > max) throw invalid({ amount: [`Must be at most ${nairaFromKobo(max)} NGN`] });
};

const findNetwork = (name: string, networks: readonly Network[]): Network => {
  const network = networks.find(({ code }) => isSameNetwork(name, code));
  if (network !== undefined) return network;
  throw invalid({ network: [`Must be one of ${networks.map(({ code }) => code).join(", ")}`] });
};
