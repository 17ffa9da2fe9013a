import { TextInput, type TextInputProps } from "@mantine/core";
import { useState } from "react";

type CommittedTextProps = Pick<TextInputProps, "label" | "description"> & {
  readonly value: string;
  /** Called after Enter, or when the field is left, because each value is a request. */
  readonly onCommit: (value: string) => void;
};

/** A text that filters a list which the service filters. */
export const CommittedText = ({ value, onCommit, ...field }: CommittedTextProps) => {
  const [typed, setTyped] = useState<string>();
  const commit = () => {
    if (typed !== undefined && typed.trim() !== value) onCommit(typed.trim());
    setTyped(undefined);
  };
  return (
    <TextInput
      {...field}
      autoComplete="off"
      value={typed ?? value}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      onBlur={commit}
      onKeyDown={({ key }) => {
        if (key === "Enter") commit();
      }}
    />
  );
};
