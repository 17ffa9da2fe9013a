/**
 * The minute of the load runs of queued orders: that of the simulator's limit, and of the sender's schedule. A run
 * sends for most of it, because calls are no faster in a short minute.
 */
export const shortMinute = { ms: 3_000, orders: 60, sendingMs: 2_400 } as const;
