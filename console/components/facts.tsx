import type { ReactNode } from "react";
import styles from "./facts.module.css";

export type Fact = { readonly name: string; readonly value: ReactNode };

/** Names and values: a definition list. A fact without a value shows a dash. */
export const Facts = ({ facts }: { readonly facts: readonly Fact[] }) => (
  <dl className={styles.facts}>
    {facts.map(({ name, value }) => (
      <div key={name} className={styles.fact}>
        <dt>{name}</dt>
        <dd>{value ?? "–"}</dd>
      </div>
    ))}
  </dl>
);
