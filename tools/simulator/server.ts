import { createServer } from "node:http";
import { documentedLimits, type RateLimits, WINDOW_MS } from "./access.ts";
import { CONTROL_PREFIX, handleRequest, VERSION_PREFIX } from "./request-handler.ts";
import { type SimulatorSettings, SimulatorState } from "./state.ts";

const HOST = "127.0.0.1";

const defaults = {
  startBalanceKobo: 1_000_000_000_00,
  stallMs: 40_000,
  delayedOutcomeMs: 5_000,
  windowMs: WINDOW_MS,
  manner: "lenient",
  references: "documented",
  virtualNin: false,
} as const satisfies Partial<SimulatorSettings>;

export type SimulatorOptions = Partial<Omit<SimulatorSettings, "liveKeys" | "startBalanceKobo" | "limits">> & {
  /** Default 0: a free port. */
  readonly port?: number;
  /** One key, or several, each with its own limits. */
  readonly liveKey: string | readonly string[];
  readonly balanceKobo?: number;
  readonly limits?: Partial<RateLimits>;
};

export type Simulator = Awaited<ReturnType<typeof startSimulator>>;

/**
 * Starts the simulated upstream on loopback. It serves docs/interface.md 16.1, by plain HTTP instead of HTTPS (1.5),
 * and injects the faults that it is given. `baseUrl` ends in /v1, `controlUrl` in /_simulator; `state` is for tests in
 * the same process.
 */
export const startSimulator = async ({
  port: wantedPort = 0,
  liveKey,
  balanceKobo: startBalanceKobo = defaults.startBalanceKobo,
  limits,
  ...settings
}: SimulatorOptions) => {
  const state = new SimulatorState({
    ...defaults,
    ...settings,
    liveKeys: [liveKey].flat(),
    startBalanceKobo,
    limits: { ...documentedLimits, ...limits },
  });
  const server = createServer((request, response) => void handleRequest(state, request, response));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(wantedPort, HOST, resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const origin = `http://${HOST}:${port}`;
  return {
    baseUrl: `${origin}${VERSION_PREFIX}`,
    controlUrl: `${origin}${CONTROL_PREFIX}`,
    state,
    stop: (): Promise<void> =>
      new Promise((resolve) => {
        state.stopping.abort();
        state.timers.clear();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
