import { isIdentityCheck, referenceOf, type Transaction } from "../../shared/ledger/transaction.ts";
import type { System } from "./system/system.ts";

type Order = System["upstream"]["purchases"][number];

/** What an order and a transaction both say of it, where the order does not carry our reference. */
type Likeness = { readonly type: string; readonly amountKobo: number; readonly phoneNumber: string | undefined };
export const likenessOf = (transaction: Transaction): Likeness => ({
  type: transaction.type,
  amountKobo: transaction.amount_kobo,
  phoneNumber: isIdentityCheck(transaction) ? undefined : transaction.phone_number,
});

/** Whether a live order of this kind carries our reference. */
export const carriesReference = ({ references }: System, { type }: Transaction): boolean =>
  references === "all" || type === "data";

/** The upstream's orders that may be of a transaction: the one with our reference, or those that look like it. */
export const ordersAbout = (system: System, transaction: Transaction): readonly Order[] => {
  const { type, amountKobo, phoneNumber } = likenessOf(transaction);
  const own = referenceOf(transaction);
  return system.upstream.purchases.filter((order) =>
    order.reference === null
      ? order.type === type &&
        order.amountKobo === amountKobo &&
        (phoneNumber === undefined || order.phoneNumber === phoneNumber)
      : order.reference === own,
  );
};

/** The upstream's record of a transaction, as a person finds it: by a reference, or else the first that looks like it. */
export const orderOf = (system: System, transaction: Transaction): Order | undefined => {
  const orders = ordersAbout(system, transaction);
  return orders.find(({ upstreamReference }) => upstreamReference === transaction.upstream_reference) ?? orders[0];
};
