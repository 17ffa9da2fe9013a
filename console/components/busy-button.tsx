import { Button, type ButtonProps } from "@mantine/core";
import type { ComponentPropsWithoutRef } from "react";
import { useKeptFocus } from "./use-kept-focus.ts";

type BusyButtonProps = Omit<ButtonProps, "loading"> &
  Pick<ComponentPropsWithoutRef<"button">, "type" | "onClick"> & {
    /** It waits for what it has begun, and cannot be pressed. */
    readonly isBusy: boolean;
  };

export const BusyButton = ({ isBusy, ...props }: BusyButtonProps) => (
  <Button ref={useKeptFocus(isBusy)} loading={isBusy} {...props} />
);
