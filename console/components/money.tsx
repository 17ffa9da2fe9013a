import styles from "./values.module.css";

const KOBO = 100;
const format = new Intl.NumberFormat("en-NG", { style: "currency", currency: "NGN", currencyDisplay: "code" });

/** An amount as text, for charts and sentences. */
export const nairaText = (naira: number): string => format.format(naira);

/** An amount in NGN. */
export const Money = (amount: { readonly naira: number } | { readonly kobo: number }) => (
  <span className={styles.number}>{nairaText("naira" in amount ? amount.naira : amount.kobo / KOBO)}</span>
);
