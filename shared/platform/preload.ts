/**
 * Reads what the first request will need while the function is still starting: all at once there, where a request would read one
 * after the other. What fails is left to the requests, which read for themselves.
 */
export const preload = async (...reads: readonly (() => Promise<unknown>)[]): Promise<void> => {
  await Promise.allSettled(reads.map((read) => read()));
};
