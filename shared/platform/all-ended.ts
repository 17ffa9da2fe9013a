/**
 * As `Promise.all`, but rejects only once all parts have ended. A part that writes must not outlive its caller: Lambda
 * freezes the process after the response, and the write would be made minutes later.
 */
export const allEnded = async <Result>(parts: readonly Promise<Result>[]): Promise<readonly Result[]> => {
  await Promise.allSettled(parts);
  return Promise.all(parts);
};
