import styles from "./values.module.css";

/** A text of one word, such as an e-mail address, which has several lines if it is long. */
export const Breakable = ({ text }: { readonly text: string }) => <span className={styles.breakable}>{text}</span>;
