/** `npm run bench -- --short` does everything once, which shows that it runs. Its results mean nothing. */
export const isShort = process.argv.includes("--short");

/** How often the benchmark does something, in its long or its short form. */
export const times = (full: number, short = 1): number => (isShort ? short : full);

/** The sizes that the benchmark measures: all, or the two smallest. */
export const sizes = (all: readonly number[]): readonly number[] => (isShort ? all.slice(0, 2) : all);
