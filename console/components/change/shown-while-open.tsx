import { type ReactNode, useState } from "react";
import { HoldRowContext, useHeldRow } from "../table/held-row.ts";

type ShownWhileOpenProps = { readonly isShown: boolean; readonly children: ReactNode };

/** A button that stays while its dialog is open, even if newer data no longer needs it; so does the row that it is in. */
export const ShownWhileOpen = ({ isShown, children }: ShownWhileOpenProps) => {
  const [isHeld, setIsHeld] = useState(false);
  useHeldRow(isHeld);
  if (!isShown && !isHeld) return null;
  return <HoldRowContext value={setIsHeld}>{children}</HoldRowContext>;
};
