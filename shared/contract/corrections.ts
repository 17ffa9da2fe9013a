/**
 * Names of adjustments that correct another record, each once. No person can type one, because of its spaces, so it is
 * always of the whole amount of that record.
 */
export const refundName = (reference: string): string => `refund of ${reference}`;
export const reversalName = (fundingId: string): string => `reversal of ${fundingId}`;

/** The id under which a reversed funding is credited again: one id for all operators, so it is credited once. */
export const recreditId = (fundingId: string): string => `${fundingId}-again`;

/** The id under which the amount of an order that was refunded and was delivered is taken again: one id for all operators. */
export const deliveredId = (reference: string): string => `delivered-${reference}`;

/** The order whose amount an adjustment with this name takes again. */
export const takenAgain = (name: string): string | undefined =>
  name.startsWith(deliveredId("")) ? name.slice(deliveredId("").length) : undefined;

/** The id under which it is booked that a balance was paid out, by the bank's reference of the transfer. */
export const payoutId = (transfer: string): string => `payout-${transfer}`;

const NAME = /^(refund|reversal) of (\S+)$/;

/** The order or the funding that an adjustment with this name corrects. */
export const correctedBy = (name: string): { readonly kind: "order" | "funding"; readonly id: string } | undefined => {
  const [, correction, id] = NAME.exec(name) ?? [];
  return id === undefined ? undefined : { kind: correction === "refund" ? "order" : "funding", id };
};

/** What else an adjustment changes, by its name: the money at the bank, what orders have earned, or neither. */
export const adjusts = (name: string): "bank" | "refunds" | "none" => {
  const corrected = correctedBy(name)?.kind;
  if (corrected === "funding" || name.startsWith(payoutId(""))) return "bank";
  return corrected === "order" || takenAgain(name) !== undefined ? "refunds" : "none";
};
