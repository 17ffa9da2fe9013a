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

/**
 * Gives the focus to this element, or to the page's heading if it is gone, unless something else has it. A link or a button
 * is scrolled into view. A table or the heading is not: the page would move away from where the person was.
 */
const focusAgain = (element: Element | null): void => {
  if (document.activeElement !== document.body) return;
  const isThere = element instanceof HTMLElement && element.isConnected && element !== document.body;
  const target = isThere ? element : document.querySelector<HTMLElement>("main h1");
  target?.focus({ preventScroll: !target.matches("a, button") });
};
