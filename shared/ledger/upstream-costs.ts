import * as z from "#zod";
import { type TransactionStatus, type TransactionType, transactionType } from "../contract/transaction.ts";
import { changedByPercent, type Kobo, percentField } from "../contract/values/money.ts";
import { isSameNetwork } from "../contract/values/network-names.ts";
import type { Transaction } from "./transaction.ts";

/** How much less than the face value the upstream charges for orders of a kind, and of one network if it is named. */
const discountSchema = z.lazy(() =>
  z.strictObject({
    kind: transactionType,
    /** Network codes are lower case, as in the catalog. */
    network: z.optional(z.string().check(z.trim(), z.toLowerCase(), z.minLength(1), z.maxLength(30))),
    percent: percentField.check(z.minimum(0), z.maximum(100)),
  }),
);

/**
 * What orders cost us. The face value is the catalog's price of a plan, the amount of a top-up, or the price of a check
 * in the settings.
 */
export const upstreamCosts = z
  .strictObject({
    /** What `amount` in the upstream's answers and events is: the face value, or what it charged. */
    amountIs: z._default(z.enum(["face", "charged"]), "face"),
    /** Of several that apply, the one that names the network counts. Without one the cost is unknown. */
    discounts: z._default(z.array(discountSchema), []),
    /** By how much a charge may differ from the expected one before an alarm is raised. */
    tolerancePercent: z._default(percentField.check(z.minimum(0), z.maximum(10)), 0),
  })
  .check(
    z.refine(({ discounts }) => new Set(discounts.map(selectorOf)).size === discounts.length, {
      error: "There are two discounts for the same kind and network",
      path: ["discounts"],
    }),
  );
export type UpstreamCosts = z.output<typeof upstreamCosts>;

const selectorOf = ({ kind, network = "" }: z.output<typeof discountSchema>): string => `${kind} ${network}`;

/** Parses the setting; throws if it is not valid. */
export const parseUpstreamCosts = (json: string): UpstreamCosts => upstreamCosts.parse(JSON.parse(json));

/** The discount in percent; undefined if none is expected for this kind and network. */
export const expectedDiscount = (
  { discounts }: UpstreamCosts,
  kind: TransactionType,
  network: string | undefined,
): number | undefined => {
  const ofKind = discounts.filter((discount) => discount.kind === kind);
  const found =
    ofKind.find((one) => one.network === network) ??
    ofKind.find((one) => isSameNetwork(one.network, network)) ??
    ofKind.find((one) => one.network === undefined);
  return found?.percent;
};

/** The networks with a discount of their own, whether the catalog has them or not. */
export const networksWithDiscount = ({ discounts }: UpstreamCosts, kind: TransactionType): readonly string[] =>
  discounts.flatMap((discount) => (discount.kind === kind && discount.network !== undefined ? [discount.network] : []));

/** What the upstream is expected to charge; undefined if that is unknown. */
export const expectedCost = (
  costs: UpstreamCosts,
  { kind, network, faceKobo }: { readonly kind: TransactionType; readonly network?: string; readonly faceKobo: Kobo },
): Kobo | undefined => {
  const percent = expectedDiscount(costs, kind, network);
  return percent === undefined ? undefined : changedByPercent(faceKobo, -percent);
};

type Priced = Pick<Transaction, "amount_kobo" | "face_kobo" | "cost_kobo">;

/** The `amount` that the upstream is expected to state. A discount that is not known counts as none. */
export const expectedAmount = ({ amountIs }: UpstreamCosts, { amount_kobo, face_kobo, cost_kobo }: Priced): Kobo => {
  const face = face_kobo ?? amount_kobo;
  return amountIs === "charged" ? (cost_kobo ?? face) : face;
};

/** Whether the upstream's `amount` fits the order. */
export const isExpectedAmount = (costs: UpstreamCosts, transaction: Priced, amountKobo: Kobo): boolean => {
  const expected = expectedAmount(costs, transaction);
  const tolerance = costs.amountIs === "charged" ? changedByPercent(expected, costs.tolerancePercent) - expected : 0;
  return Math.abs(amountKobo - expected) <= tolerance;
};

/**
 * What a settlement records of the upstream's `amount`: a charge is the cost of a delivered order. One that failed, or still
 * may, keeps the cost of its debit: the books gave it to the debit's month, and its refund takes the same from them.
 */
export const amountFacts = (
  { amountIs }: UpstreamCosts,
  status: TransactionStatus,
  amountKobo: Kobo | undefined,
): { readonly upstream_amount_kobo: Kobo | undefined; readonly cost_kobo?: Kobo } => ({
  upstream_amount_kobo: amountKobo,
  ...(amountIs === "charged" && status === "success" && amountKobo !== undefined && { cost_kobo: amountKobo }),
});
