import { NativeSelect, type NativeSelectProps } from "@mantine/core";
import { useEffect, useEffectEvent, useState } from "react";

type FilterSelectProps = Pick<NativeSelectProps, "label" | "description" | "data"> & {
  readonly value: string;
  readonly onChoose: (value: string) => void;
};

/** Longer than it takes to press an arrow key again, and hardly noticed beside the time of an answer. */
const PAUSE_MS = 300;

/**
 * A choice that filters what the service reads. Arrow keys pass each value, which would be a request: the last one counts,
 * and at once when the field is left, because a button may use it.
 */
export const FilterSelect = ({ value, onChoose, ...field }: FilterSelectProps) => {
  const [passed, setPassed] = useState<string>();
  const choose = () => {
    if (passed !== undefined && passed !== value) onChoose(passed);
    setPassed(undefined);
  };
  const chooseLater = useEffectEvent(choose);
  useEffect(() => {
    if (passed === undefined) return;
    const timer = setTimeout(chooseLater, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [passed]);
  return (
    <NativeSelect
      {...field}
      value={passed ?? value}
      onChange={({ currentTarget }) => setPassed(currentTarget.value)}
      onBlur={choose}
    />
  );
};
