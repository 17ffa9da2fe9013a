import { createServer } from "node:http";
import { documentedLimits, type RateLimits, WINDOW_MS } from "./access.ts";
import type { Manner } from "./manner.ts";
import { CONTROL_PREFIX, handleRequest, VERSION_PREFIX } from "./request-handler.ts";
import { SimulatorState, type Webhook } from "./state.ts";

const HOST = "127.0.0.1";
const START_BALANCE_KOBO = 1_000_000_000_00;
const STALL_MS = 40_000;
const DELAYED_OUTCOME_MS = 5_000;

export type SimulatorOptions = {
  /** Default 0: a free port. */
  readonly port?: number;
  /** One key, or several, each with its own limits. */
  readonly liveKey: string | readonly string[];
  readonly testKey?: string;
  readonly webhook?: Webhook;
  readonly balanceKobo?: number;
  /** How long the connection of a stalled request stays open. */
  readonly stallMs?: number;
  /** How long a delayed order takes to settle. */
  readonly delayedOutcomeMs?: number;
  readonly limits?: Partial<RateLimits>;
  /** The time in which the limits hold, by default a minute. */
  readonly windowMs?: number;
  /** Default `lenient`. */
  readonly manner?: Manner;
  /** Which orders a strict one takes with a `reference`: by default those for which the document shows it. */
  readonly references?: "all" | "documented";
  /** Whether it takes a virtual NIN in place of a NIN, which the document does not show. */
  readonly virtualNin?: boolean;
};

/** `baseUrl` ends in /v1, `controlUrl` in /_simulator; `state` is for tests in the same process. */
export type Simulator = {
  readonly baseUrl: string;
  readonly controlUrl: string;
  readonly state: SimulatorState;
  readonly stop: () => Promise<void>;
};

/**
 * Starts the simulated upstream on loopback. It serves docs/interface.md 16.1, by plain HTTP instead of HTTPS (1.5),
 * and injects the faults that it is given.
 */
export const startSimulator = async (options: SimulatorOptions): Promise<Simulator> => {
  const state = new SimulatorState({
    liveKeys: [options.liveKey].flat(),
    testKey: options.testKey,
    webhook: options.webhook,
    startBalanceKobo: options.balanceKobo ?? START_BALANCE_KOBO,
    stallMs: options.stallMs ?? STALL_MS,
    delayedOutcomeMs: options.delayedOutcomeMs ?? DELAYED_OUTCOME_MS,
    limits: { ...documentedLimits, ...options.limits },
    windowMs: options.windowMs ?? WINDOW_MS,
    manner: options.manner ?? "lenient",
    references: options.references ?? "documented",
    virtualNin: options.virtualNin ?? false,
  });
  const server = createServer((request, response) => void handleRequest(state, request, response));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, HOST, resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const origin = `http://${HOST}:${port}`;
  return {
    baseUrl: `${origin}${VERSION_PREFIX}`,
    controlUrl: `${origin}${CONTROL_PREFIX}`,
    state,
    stop: () =>
      new Promise((resolve) => {
        state.stopping.abort();
        state.timers.clear();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
