import { type ReactNode, useState } from "react";
import { HoldRowContext } from "../table/held-row.ts";

type UnchangedWhileOpenProps<Value> = {
  /** What was read last. */
  readonly value: Value;
  readonly children: (shown: Value) => ReactNode;
};

/**
 * A part of a page that does not change while one of its dialogs is open: without it the dialog would vanish, together
 * with why its change failed.
 */
export const UnchangedWhileOpen = <Value,>({ value, children }: UnchangedWhileOpenProps<Value>) => {
  const [isHeld, setIsHeld] = useState(false);
  const [shown, setShown] = useState({ value });
  if (!isHeld && shown.value !== value) setShown({ value });
  return <HoldRowContext value={setIsHeld}>{children(isHeld ? shown.value : value)}</HoldRowContext>;
};
