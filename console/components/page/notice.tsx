import type { ReactNode } from "react";
import { type Tone, toneIcons } from "../values/tones.ts";
import { Icon } from "./icon.tsx";
import styles from "./notice.module.css";

type NoticeProps = {
  readonly tone: Tone;
  readonly title: ReactNode;
  /** A button. */
  readonly action?: ReactNode;
  readonly children?: ReactNode;
};

/** A message in the page; what went wrong is read out at once. */
export const Notice = ({ tone, title, action, children }: NoticeProps) => (
  <div className={styles.notice} data-tone={tone} role={tone === "bad" ? "alert" : "status"}>
    {tone !== "neutral" && <Icon name={toneIcons[tone]} />}
    <div className={styles.text}>
      <strong>{title}</strong>
      {children !== undefined && <div>{children}</div>}
    </div>
    {action}
  </div>
);
