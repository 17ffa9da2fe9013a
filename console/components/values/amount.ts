import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import {
  koboFromText,
  moneyText,
  nairaFromKobo,
  nairaText,
  nearestKobo,
} from "../../../shared/contract/values/money.ts";

/** A typed amount in kobo; NaN, which every action refuses, if the text is not an amount. */
export const koboOf = (text: string): number => koboFromText(text) ?? Number.NaN;

/** What a change will do, shown before it is sent, and the text of the button that sends it. */
export type Preview = { readonly sentence: string; readonly button: string };

/** What a ledger entry of the typed amount does to the balance, both in NGN; undefined while no amount is typed. */
export const entryPreview = (text: string, balance: number | undefined): Preview | undefined => {
  const kobo = koboFromText(text) ?? 0;
  if (kobo === 0) return undefined;
  const amount = moneyText(nairaFromKobo(Math.abs(kobo)));
  const [verb, done] = kobo > 0 ? ["Credit", "credited"] : ["Debit", "debited"];
  const button = `${verb} ${amount}`;
  if (balance === undefined) return { sentence: `${amount} will be ${done}.`, button };
  const after = nairaFromKobo(nearestKobo(balance) + kobo);
  return after < 0
    ? { sentence: `${amount} cannot be ${done}: the balance is ${moneyText(balance)}, and never goes below 0.`, button }
    : { sentence: `${amount} will be ${done}: from ${nairaText(balance)} to ${nairaText(after)}`, button };
};

/** What booking a payment to the upstream of the typed amount does, which changes no wallet. */
export const paymentPreview = (text: string): Preview | undefined => {
  const kobo = koboFromText(text) ?? 0;
  if (kobo === 0) return undefined;
  const amount = moneyText(nairaFromKobo(Math.abs(kobo)));
  return kobo > 0
    ? { sentence: `A payment of ${amount} to the upstream will be booked.`, button: `Book ${amount}` }
    : { sentence: `${amount} will be taken from the booked payments.`, button: `Take ${amount} off` };
};

export const entrySentence = ({ id, amount, repeated, balance }: ActionOutput<"wallet fund">): string =>
  repeated
    ? `${id} was recorded before: nothing was changed. The balance is ${moneyText(balance)}.`
    : `${moneyText(Math.abs(amount))} ${amount < 0 ? "were debited" : "were credited"}. The balance is ${moneyText(balance)}.`;
