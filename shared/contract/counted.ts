/** A number with its noun: `1 check`, `2 checks`; `counted(2, "entry", "entries")`. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
