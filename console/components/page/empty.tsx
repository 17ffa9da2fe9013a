import type { ReactNode } from "react";
import styles from "./empty.module.css";

/** Says that there is nothing to show, and what to do. */
export const Empty = ({ children }: { readonly children: ReactNode }) => <div className={styles.empty}>{children}</div>;
