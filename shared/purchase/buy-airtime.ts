import type { Call } from "../call/call.ts";
import { invalid } from "../call/invalid.ts";
import { sellablePlans } from "../catalog/sellable-plans.ts";
import type { Network } from "../contract/catalog.ts";
import { type Kobo, koboFromNaira, nairaFromKobo } from "../contract/money.ts";
import type { AirtimePurchaseRequest } from "../contract/purchase.ts";
import { placeOrder } from "../orders/place-order.ts";
import { purchaseCallbacks, purchaseWaiting } from "../queued-orders/queue-policy.ts";
import type { OrderQuote } from "../queued-orders/send-purchase.ts";
import type { UpstreamOrder } from "../upstream/upstream.ts";
import type { PurchaseDeps } from "./buy-data.ts";
import { purchaseResponse } from "./purchase-response.ts";

export type AirtimeDeps = PurchaseDeps & { readonly airtimeKoboMax: Kobo };

/** POST /vtu/airtime/purchase. */
export const buyAirtime =
  (deps: AirtimeDeps) =>
  async ({ input, caller, deadline }: Pick<Call<AirtimePurchaseRequest>, "input" | "caller" | "deadline">) => {
    const { phone_number: phoneNumber, reference } = input;
    const amountKobo = koboFromNaira(input.amount);
    const upstream = deps.upstreams[caller.mode];
    const waiting = purchaseWaiting(deps, upstream, caller.mode);
    const placed = await placeOrder(
      deps,
      {
        caller,
        type: "airtime",
        callerReference: reference,
        fields: [namesOf(input.network).join(), String(amountKobo), phoneNumber],
        quote: async (): Promise<OrderQuote> => {
          assertAllowed(amountKobo, deps.airtimeKoboMax);
          const plans = await sellablePlans(deps.catalog, caller.mode, deps.ledger.clock);
          const network = findNetwork(input.network, [...plans.networks.values()]);
          const order: UpstreamOrder = { kind: "airtime", network: network.code, amountKobo, phoneNumber };
          await upstream.assertReady(order, deadline, { mayWait: waiting !== undefined });
          const description = `${network.name} airtime for ${phoneNumber}`;
          return { order, amountKobo, description, network: network.name, phoneNumber };
        },
        ...purchaseCallbacks(deps, upstream, waiting, deadline),
      },
      deadline,
    );
    return purchaseResponse(placed);
  };

const assertAllowed = (amount: Kobo, max: Kobo): void => {
  if (amount > max) throw invalid({ amount: [`Must be at most ${nairaFromKobo(max)} NGN`] });
};

/** Networks with several names; the catalog decides which of them is the code. */
const networkSynonyms: readonly (readonly string[])[] = [
  ["9mobile", "etisalat", "t2"],
  ["glo", "globacom"],
];

const namesOf = (name: string): readonly string[] => networkSynonyms.find((names) => names.includes(name)) ?? [name];

const findNetwork = (name: string, networks: readonly Network[]): Network => {
  const network = networks.find(({ code }) => namesOf(name).includes(code));
  if (network !== undefined) return network;
  throw invalid({ network: [`Must be one of ${networks.map(({ code }) => code).join(", ")}`] });
};
