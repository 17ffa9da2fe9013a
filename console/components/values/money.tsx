import { moneyText } from "../../../shared/contract/values/money.ts";
import styles from "./values.module.css";

const KOBO = 100;

/** An amount in NGN. */
export const Money = (amount: { readonly naira: number } | { readonly kobo: number }) => (
  <span className={styles.number}>{moneyText("naira" in amount ? amount.naira : amount.kobo / KOBO)}</span>
);
