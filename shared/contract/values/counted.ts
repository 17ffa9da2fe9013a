/** A number with its noun: `1 check`, `1,200 checks`; `counted(2, "entry", "entries")`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en-GB")} ${count === 1 ? one : many}`;
