import { koboFromText } from "../../shared/contract/naira.ts";

const KOBO = 100;
const plain = new Intl.NumberFormat("en-NG", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const withCurrency = new Intl.NumberFormat("en-NG", { style: "currency", currency: "NGN", currencyDisplay: "code" });

/** An amount as text, for charts and sentences. */
export const nairaText = (naira: number): string => withCurrency.format(naira);

/** A typed amount in kobo; NaN if it is none, which every action refuses. */
export const koboOf = (text: string): number => koboFromText(text) ?? Number.NaN;

/** What a change will do, shown before it is sent, and the text of the button that sends it. */
export type Preview = { readonly sentence: string; readonly button: string };

/** What a ledger entry of the typed amount does to the balance, both in NGN; undefined while no amount is typed. */
export const entryPreview = (text: string, balance: number | undefined): Preview | undefined => {
  const kobo = koboFromText(text) ?? 0;
  if (kobo === 0) return undefined;
  const amount = nairaText(Math.abs(kobo) / KOBO);
  const [verb, done] = kobo > 0 ? ["Credit", "credited"] : ["Debit", "debited"];
  const button = `${verb} ${amount}`;
  if (balance === undefined) return { sentence: `${amount} will be ${done}.`, button };
  const after = (Math.round(balance * KOBO) + kobo) / KOBO;
  return after < 0
    ? { sentence: `${amount} cannot be ${done}: the balance is ${nairaText(balance)}.`, button }
    : { sentence: `${amount} will be ${done}: ${plain.format(balance)} -> ${plain.format(after)}`, button };
};
