import type { Call } from "../call/call.ts";
import { invalid } from "../call/invalid.ts";
import type { CatalogMemory } from "../catalog/catalog-memory.ts";
import { sellablePlans } from "../catalog/sellable-plans.ts";
import type { PlanIndex } from "../catalog/snapshot.ts";
import type { DataPlan, Network } from "../contract/catalog.ts";
import { ServiceError } from "../contract/errors.ts";
import { koboFromNaira } from "../contract/money.ts";
import type { DataPurchaseRequest } from "../contract/purchase.ts";
import type { Mode } from "../contract/transaction.ts";
import type { OrderDeps } from "../orders/order.ts";
import { placeOrder } from "../orders/place-order.ts";
import { purchaseCallbacks, purchaseWaiting, type WaitingDeps } from "../queued-orders/queue-policy.ts";
import type { OrderQuote } from "../queued-orders/send-purchase.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { purchaseResponse } from "./purchase-response.ts";

/** Keeps the transaction's item below 1 KB. */
const BUNDLE_NAME_LENGTH_MAX = 90;

export type PurchaseDeps = OrderDeps &
  WaitingDeps & {
    readonly catalog: CatalogMemory;
    readonly upstreams: Readonly<Record<Mode, Upstream>>;
  };

/** POST /vtu/data/purchase. */
export const buyData =
  (deps: PurchaseDeps) =>
  async ({ input, caller, deadline }: Pick<Call<DataPurchaseRequest>, "input" | "caller" | "deadline">) => {
    const { network_id: networkId, plan_id: planId, phone_number: phoneNumber, reference } = input;
    const upstream = deps.upstreams[caller.mode];
    const waiting = purchaseWaiting(deps, upstream, caller.mode);
    const placed = await placeOrder(
      deps,
      {
        caller,
        type: "data",
        callerReference: reference,
        fields: [String(networkId), String(planId), phoneNumber],
        quote: async () => {
          const quote = quoteData(await sellablePlans(deps.catalog, caller.mode, deps.ledger.clock), input);
          await upstream.assertReady(quote.order, deadline, { mayWait: waiting !== undefined });
          return quote;
        },
        ...purchaseCallbacks(deps, upstream, waiting, deadline),
      },
      deadline,
    );
    return purchaseResponse(placed);
  };

const quoteData = (
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
