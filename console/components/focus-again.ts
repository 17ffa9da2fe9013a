/**
 * Gives the focus to this element, or to the page's heading if it is gone, unless something else has it. A link or a button
 * is scrolled into view. A table or the heading is not: the page would move away from where the person was.
 */
export const focusAgain = (element: Element | null): void => {
  if (document.activeElement !== document.body) return;
  const isThere = element instanceof HTMLElement && element.isConnected && element !== document.body;
  const target = isThere ? element : document.querySelector<HTMLElement>("main h1");
  target?.focus({ preventScroll: !target.matches("a, button") });
};
