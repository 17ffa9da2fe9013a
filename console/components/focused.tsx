import { type ReactNode, useEffect, useRef } from "react";
import styles from "./focused.module.css";

type FocusedProps = {
  /** What is shown: another one takes the focus again. */
  readonly subject: string;
  readonly children: ReactNode;
};

/**
 * A part of a page that takes the focus when it appears, because it opens above the link that opened it. The link has the
 * focus again once the part is closed, or the page's heading if the link is gone.
 */
export const Focused = ({ subject, children }: FocusedProps) => {
  const part = useRef<HTMLDivElement>(null);
  const opener = useRef<Element>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: The focus follows what is shown.
  useEffect(() => {
    opener.current = document.activeElement;
    part.current?.focus();
  }, [subject]);
  useEffect(() => () => focusAgain(opener.current), []);
  return (
    <div ref={part} tabIndex={-1} className={styles.focused}>
      {children}
    </div>
  );
};

/** Unless something else has the focus, such as a link to another page. */
const focusAgain = (opener: Element | null): void => {
  if (document.activeElement !== document.body) return;
  const isThere = opener instanceof HTMLElement && opener.isConnected && opener !== document.body;
  const target = isThere ? opener : document.querySelector<HTMLElement>("main h1");
  target?.focus();
};
