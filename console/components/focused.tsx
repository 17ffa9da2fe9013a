import { type ReactNode, useEffect, useRef } from "react";
import styles from "./focused.module.css";

type FocusedProps = {
  /** What is shown: another one takes the focus again. */
  readonly subject: string;
  readonly children: ReactNode;
};

/** A part of a page that takes the focus when it appears, because it opens above the link that opened it. */
export const Focused = ({ subject, children }: FocusedProps) => {
  const part = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: The focus follows what is shown.
  useEffect(() => part.current?.focus(), [subject]);
  return (
    <div ref={part} tabIndex={-1} className={styles.focused}>
      {children}
    </div>
  );
};
