import { builtInPlans } from "../catalog/built-in.ts";
import type { CatalogMemory } from "../catalog/memory.ts";
import type { Network } from "../contract/catalog.ts";
import { ServiceError } from "../contract/errors.ts";
import type { AirtimePurchaseRequest } from "../contract/purchase.ts";
import type { Mode } from "../contract/transaction.ts";
import type { Call } from "../platform/api-handler.ts";
import { invalid } from "../platform/api-request.ts";
import { type Kobo, koboFromNaira, nairaFromKobo } from "../platform/money.ts";
import type { Order } from "../upstream/provider.ts";
import type { OrderQuote, PurchaseDeps } from "./buy-data.ts";
import { deliver } from "./deliver.ts";
import { placeOrder } from "./place-order.ts";
import { purchaseAnswer } from "./purchase-answer.ts";

const RETRY_AFTER_S = 60;

export type AirtimeDeps = PurchaseDeps & { readonly airtimeKoboMax: Kobo };

/** POST /vtu/airtime/purchase. */
export const buyAirtime =
  (deps: AirtimeDeps) =>
  async ({ input, caller, deadline }: Pick<Call<AirtimePurchaseRequest>, "input" | "caller" | "deadline">) => {
    const { phone_number: phoneNumber, reference } = input;
    const amountKobo = amountOf(input.amount, deps.airtimeKoboMax);
    const provider = deps.providers[caller.mode];
    const placed = await placeOrder(
      deps,
      {
        caller,
        type: "airtime",
        reference,
        fields: [namesOf(input.network).join(), String(amountKobo), phoneNumber],
        quote: async (): Promise<OrderQuote> => {
          const network = await findNetwork(input.network, deps.catalog, caller.mode);
          const order: Order = { kind: "airtime", network: network.code, amountKobo, phoneNumber };
          await provider.assertReady(order, deadline);
          const description = `${network.name} airtime for ${phoneNumber}`;
          return { order, amountKobo, description, network: network.name, phoneNumber };
        },
        fulfil: (row, { order }) => deliver(provider, order, row, deadline),
      },
      deadline,
    );
    return purchaseAnswer(placed);
  };

const amountOf = (naira: number, max: Kobo): Kobo => {
  if (naira > nairaFromKobo(max)) throw invalid({ amount: [`Must be at most ${nairaFromKobo(max)} NGN`] });
  return koboFromNaira(naira);
};

/** Names under which a network is known beside its code; the catalog decides which of them is the code. */
const sameNetwork: readonly (readonly string[])[] = [
  ["9mobile", "etisalat", "t2"],
  ["glo", "globacom"],
];

const namesOf = (name: string): readonly string[] => sameNetwork.find((names) => names.includes(name)) ?? [name];

const findNetwork = async (name: string, catalog: CatalogMemory, mode: Mode): Promise<Network> => {
  const networks = (await catalog.plans())?.networks ?? (mode === "test" ? builtInPlans.networks : undefined);
  if (networks === undefined) throw new ServiceError("provider_unavailable", { retryAfterS: RETRY_AFTER_S });
  const network = [...networks.values()].find(({ code }) => namesOf(name).includes(code));
  if (network !== undefined) return network;
  const codes = [...networks.values()].map(({ code }) => code).join(", ");
  throw invalid({ network: [`Must be one of ${codes}`] });
};
