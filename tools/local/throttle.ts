/**
 * API Gateway's token bucket for each route: as many tokens as the route takes requests a second, filled at that rate.
 * A route without a limit takes all. Returns whether a request of a route is admitted now. Source: AWS, "Throttle requests to your HTTP APIs for better throughput".
 */
export const createThrottle = (limits: ReadonlyMap<string, number>) => {
  const buckets = new Map<string, { tokens: number; atMs: number }>();
  return (routeKey: string, nowMs: number): boolean => {
    const limit = limits.get(routeKey);
    if (limit === undefined) return true;
    const { tokens, atMs } = buckets.get(routeKey) ?? { tokens: limit, atMs: nowMs };
    const filled = Math.min(limit, tokens + ((nowMs - atMs) / 1_000) * limit);
    const isAdmitted = filled >= 1;
    buckets.set(routeKey, { tokens: isAdmitted ? filled - 1 : filled, atMs: nowMs });
    return isAdmitted;
  };
};
