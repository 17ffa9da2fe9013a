import { Button, type ButtonProps } from "@mantine/core";
import type { ComponentPropsWithoutRef } from "react";

type BusyButtonProps = Omit<ButtonProps, "loading"> &
  Pick<ComponentPropsWithoutRef<"button">, "type" | "onClick"> & {
    /** It waits for what it has begun, and cannot be pressed. */
    readonly isBusy: boolean;
  };

export const BusyButton = ({ isBusy, ...props }: BusyButtonProps) => <Button loading={isBusy} {...props} />;
