const LOOPBACK = ["127.0.0.1", "::1", "localhost"];

/**
 * With NODE_USE_ENV_PROXY or `--use-env-proxy` `fetch` asks the proxy for this machine's own addresses too, unless NO_PROXY
 * has them: neither the local service nor the webhooks of its simulator would be reached. It reads `no_proxy` first, and
 * takes `*` only by itself.
 */
export const reachLoopbackDirectly = (): void => {
  const { NO_PROXY, no_proxy = NO_PROXY } = process.env;
  if (no_proxy === "*") return;
  process.env.no_proxy = [...(no_proxy ? [no_proxy] : []), ...LOOPBACK].join(",");
};
