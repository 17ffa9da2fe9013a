/**
 * Reads in parallel, during the cold start, what the first request would read in sequence. Failures are ignored: the
 * requests read again.
 */
export const preload = async (...reads: readonly (() => Promise<unknown>)[]): Promise<void> => {
  await Promise.allSettled(reads.map((read) => read()));
};
