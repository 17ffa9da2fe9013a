/** How much a long run does: all, or the share that LOAD_SHARE names, such as 0.01, which shows that the run works. */
export const share = (all: number): number => Math.ceil(all * Number(process.env.LOAD_SHARE ?? 1));
