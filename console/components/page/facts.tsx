import type { ReactNode } from "react";
import { withThousands } from "../values/number-text.ts";
import styles from "./facts.module.css";

type Fact = {
  readonly name: string;
  readonly value: ReactNode /** A long value has the room of two. */;
  readonly isWide?: true;
};

/** Names and values: a definition list. A fact without a value shows a dash. */
export const Facts = ({ facts }: { readonly facts: readonly Fact[] }) => (
  <dl className={styles.facts}>
    {facts.map(({ name, value, isWide }) => (
      <div key={name} className={`${styles.fact} ${isWide ? styles.wide : ""}`}>
        <dt>{name}</dt>
        <dd>{withThousands(value ?? "–")}</dd>
      </div>
    ))}
  </dl>
);
