import styles from "./values.module.css";

/** A reference in one line, however narrow its column is. */
export const Unbroken = ({ text }: { readonly text: string }) => <span className={styles.unbroken}>{text}</span>;
