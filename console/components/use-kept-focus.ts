import { type RefObject, useLayoutEffect, useRef } from "react";

/**
 * For a button that cannot be pressed while it works: a browser takes the focus from it, and it has the focus again
 * afterwards. The page is not scrolled: "Show more" is below the rows that it has brought.
 */
export const useKeptFocus = (isBusy: boolean): RefObject<HTMLButtonElement | null> => {
  const button = useRef<HTMLButtonElement>(null);
  const hadFocus = useRef(false);
  useLayoutEffect(() => {
    if (!isBusy && hadFocus.current && document.activeElement === document.body) {
      button.current?.focus({ preventScroll: true });
    }
    hadFocus.current = isBusy && document.activeElement === button.current;
  }, [isBusy]);
  return button;
};
