import { createContext, useContext, useEffect } from "react";

/** Keeps a row in its table, or a table or button in its page, or lets it go. */
type HoldRow = (isHeld: boolean) => void;

export const HoldRowContext = createContext<HoldRow | undefined>(undefined);

/**
 * Keeps the row of the table that this is in, although a later read lacks it: a dialog that was opened from the row
 * would vanish with it, together with its message.
 */
export const useHeldRow = (isHeld: boolean): void => {
  const hold = useContext(HoldRowContext);
  useEffect(() => {
    if (!isHeld || hold === undefined) return;
    hold(true);
    return () => hold(false);
  }, [isHeld, hold]);
};
