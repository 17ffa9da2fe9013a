import type { ReactNode } from "react";
import { Icon } from "../page/icon.tsx";
import styles from "./status.module.css";
import { type Tone, toneIcons } from "./tones.ts";

/** A state in a word or two, with an icon and a colour. */
export const Status = ({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) => (
  <span className={styles.status} data-tone={tone}>
    <Icon name={toneIcons[tone]} size={13} />
    {children}
  </span>
);
