/** The requests that this run has sent to the stage's API, for the estimate of its costs. */
export const requestCounts = { requests: 0 };
