import { type ReactNode, useState } from "react";
import { HoldRowContext } from "./held-row.ts";

type KeptWhileOpenProps = { readonly isShown: boolean; readonly children: ReactNode };

/** A button that stays while its dialog is open, even if newer data no longer needs it. */
export const KeptWhileOpen = ({ isShown, children }: KeptWhileOpenProps) => {
  const [isHeld, setIsHeld] = useState(false);
  if (!isShown && !isHeld) return null;
  return <HoldRowContext value={setIsHeld}>{children}</HoldRowContext>;
};
