import styles from "./values.module.css";

/** A text in one line, such as a reference, however narrow its column is. */
export const Unbroken = ({ text }: { readonly text: string }) => <span className={styles.unbroken}>{text}</span>;
