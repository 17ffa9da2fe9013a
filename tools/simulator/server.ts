import { createServer } from "node:http";
import { documentedLimits, type RateLimits } from "./access.ts";
import { CONTROL_PREFIX, serve, VERSION_PREFIX } from "./exchange.ts";
import { SimulatorState, type Webhook } from "./state.ts";

const HOST = "127.0.0.1";
const START_BALANCE_KOBO = 1_000_000_000_00;
const SLOW_ANSWER_MS = 40_000;
const DELAYED_OUTCOME_MS = 5_000;

export type SimulatorOptions = {
  /** 0, the default, takes a free one. */
  port?: number;
  liveKey: string;
  testKey?: string;
  webhook?: Webhook;
  balanceKobo?: number;
  /** How long the numbers that get no answer are kept waiting. */
  slowAnswerMs?: number;
  /** How long an order that is not delivered at once takes to end. */
  delayedOutcomeMs?: number;
  limits?: Partial<RateLimits>;
};

/** `baseUrl` ends in /v1, `controlUrl` in /_simulator; `state` is for tests in the same process. */
export type Simulator = { baseUrl: string; controlUrl: string; state: SimulatorState; stop(): Promise<void> };

/**
 * Starts the stand-in for the upstream provider, on loopback. It speaks INTERFACE.md, by plain HTTP although the
 * interface asks for HTTPS ("Authentication" 1), and can be told to misbehave.
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const state = new SimulatorState({
    liveKey: options.liveKey,
    testKey: options.testKey,
    webhook: options.webhook,
    startBalanceKobo: options.balanceKobo ?? START_BALANCE_KOBO,
    slowAnswerMs: options.slowAnswerMs ?? SLOW_ANSWER_MS,
    delayedOutcomeMs: options.delayedOutcomeMs ?? DELAYED_OUTCOME_MS,
    limits: { ...documentedLimits, ...options.limits },
  });
  const server = createServer((request, response) => void serve(state, request, response));
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
}
