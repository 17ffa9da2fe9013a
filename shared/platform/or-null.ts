/** A formatted amount, or time; null if there is none. */
export const orNull = <Formatted>(value: number | undefined, format: (value: number) => Formatted): Formatted | null =>
  value === undefined ? null : format(value);
