import type { ErrorCode, NoAnswerReason, RateState } from "./errors.ts";

/** What `onAttempt` gets. */
export type AttemptEvent = {
  /** The operation's name in the OpenAPI document, such as `buyData`. */
  readonly operation: string;
  /** The order's reference; undefined for a read, also for a lookup of an order. */
  readonly reference: string | undefined;
  /** 1 for the first. */
  readonly attempt: number;
  readonly durationMs: number;
  /** `answered`, an error code of the service, or why there was no readable answer. */
  readonly result: "answered" | "aborted" | ErrorCode | NoAnswerReason;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly rate: RateState | undefined;
  /** The wait before the next attempt; undefined if this is the last. */
  readonly retryInMs: number | undefined;
};

/** What a client is made from. */
export type ClientOptions = {
  /** The service's base URL, which ends with `/v1`. It is `https`, except on this machine. */
  readonly baseUrl: string;
  /** `live_...` places real orders, `test_...` simulated ones. */
  readonly apiKey: string;
  /** The deadline of a call with all its attempts and waits. Default 90,000. */
  readonly timeoutMs?: number;
  /** The longest one attempt may take. Default 35,000; the service answers within 30,000. */
  readonly attemptTimeoutMs?: number;
  /**
   * Whether the order of a bundle has the price of the catalog that `catalog.get` returned last as its `expectedPrice`,
   * unless the order names one. Default true.
   */
  readonly expectCatalogPrice?: boolean;
  /** Used instead of the global `fetch`. It must not retry or follow redirects. */
  readonly fetch?: typeof globalThis.fetch;
  /**
   * Called after each attempt, for logs and metrics. It gets neither keys nor personal data; what it throws is ignored.
   */
  readonly onAttempt?: (event: AttemptEvent) => void;
};

export type Settings = Required<Omit<ClientOptions, "onAttempt">> & Pick<ClientOptions, "onAttempt">;

/** A new minute of the rate limit (60 s) and one attempt (30 s). */
const TIMEOUT_MS = 90_000;
/** Longer than the service takes to answer: its functions end after 29 s. */
const ATTEMPT_TIMEOUT_MS = 35_000;
/** The longest delay that `setTimeout` keeps. */
const TIMER_MS_MAX = 2_147_483_647;

/** Throws a `TypeError` for a setting that cannot work. Its message never has the key. */
export const parseSettings = (options: ClientOptions): Settings => {
  const text = String(options.baseUrl);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const path = url?.pathname.replace(/\/+$/, "");
  if (!url || !path?.endsWith("/v1") || /[?#]/.test(text))
    throw new TypeError("baseUrl must be a URL that ends with /v1");
  if (url.username || url.password) {
    throw new TypeError("baseUrl has a user");
  }
  if (!/^(https:|http:(localhost|127\.[\d.]+|\[::1\])$)/.test(url.protocol + url.hostname)) {
    throw new TypeError("baseUrl must be https, because requests carry the API key");
  }
  // A stray line break would make fetch throw an error that shows the key.
  if (!/^(live|test)_[\w-]+$/.test(options.apiKey)) {
    throw new TypeError("apiKey must be a key of the service: live_... or test_...");
  }
  return {
    baseUrl: url.origin + path,
    apiKey: options.apiKey,
    timeoutMs: parseMs("timeoutMs", options.timeoutMs ?? TIMEOUT_MS),
    attemptTimeoutMs: parseMs("attemptTimeoutMs", options.attemptTimeoutMs ?? ATTEMPT_TIMEOUT_MS),
    expectCatalogPrice: options.expectCatalogPrice ?? true,
    fetch: options.fetch ?? platformFetch(),
    onAttempt: options.onAttempt,
  };
};

type Deno = { createHttpClient?(options: { poolMaxIdlePerHost: number }): unknown };

/**
 * The global fetch. Deno's sends a request again by itself if a kept connection ends without an answer: a refusal of
 * the second would hide that the first may have placed the order. So it keeps no connections there.
 */
const platformFetch = (): typeof globalThis.fetch => {
  const deno: Deno | undefined = Reflect.get(globalThis, "Deno");
  const client = deno?.createHttpClient?.({ poolMaxIdlePerHost: 0 });
  // Looked up at each call, and called as a function, as some runtimes require.
  return (input, init) => globalThis.fetch(input, client === undefined ? init : Object.assign({}, init, { client }));
};

export const parseMs = (name: string, ms: number): number => {
  if (!(ms > 0 && ms <= TIMER_MS_MAX)) throw new TypeError(`${name} must be a number of milliseconds above 0`);
  return ms;
};
