import { type Attempt, attempt, type ServiceRequest } from "./attempt.ts";
import { abortError, type NextStep, nextStep } from "./next-step.ts";
import { type AttemptEvent, parseMs, type Settings } from "./settings.ts";
import { sleep } from "./sleep.ts";

/** Options of every call. */
export type CallOptions = {
  /** The deadline of the call with all its attempts and waits, instead of the client's. */
  readonly timeoutMs?: number;
  /** Ends the call early. If an order was sent by then, the call throws an `OutcomeUnknownError`. */
  readonly signal?: AbortSignal;
};

const FIRST_BACKOFF_MS = 500;
const BACKOFF_MS_MAX = 8_000;
/** A retry with less time would hardly be answered, and could make a known outcome unknown. */
const RETRY_MS_MIN = 1_000;

/**
 * Sends the request until an answer decides the call, with the same bytes, and so the same reference, in every attempt.
 * An order that was sent before is not decided by an abort.
 */
export const send = async <Data>(
  settings: Settings,
  request: ServiceRequest<Data>,
  { timeoutMs = settings.timeoutMs, signal }: CallOptions,
  wasSentBefore = false,
): Promise<Data> => {
  const { reference } = request;
  const deadline = performance.now() + parseMs("timeoutMs", timeoutMs);
  let preliminary: { readonly data: Data } | undefined;

  for (let number = 1; ; number += 1) {
    if (signal?.aborted) throw abortError(reference, wasSentBefore || number > 1, signal.reason);
    const startedAt = performance.now();
    const leftMs = number === 1 ? timeoutMs : Math.max(deadline - startedAt, RETRY_MS_MIN);
    const tried = await attempt(settings, request, Math.min(settings.attemptTimeoutMs, leftMs), signal);
    const endedAt = performance.now();

    const { result } = tried;
    const isPreliminary = result.kind === "answered" && request.isPreliminary?.(result.data) === true;
    const step = nextStep(result, isPreliminary, {
      reference,
      backoffMs: backoffMs(number),
      waitMsMax: deadline - endedAt - RETRY_MS_MIN,
    });
    report(settings, request, number, endedAt - startedAt, tried, step);

    if (result.kind === "answered") {
      if (step.kind === "return") return result.data;
      preliminary = result;
    }
    if (step.kind === "throw") {
      // The deadline came while a better answer was sought.
      if (preliminary && result.kind === "no_answer") return preliminary.data;
      throw step.error;
    }
    if (step.kind === "retry") await sleep(step.waitMs, signal);
  }
};

/** Half of it is random, so that clients do not retry together. */
const backoffMs = (number: number): number =>
  Math.min(FIRST_BACKOFF_MS * 2 ** (number - 1), BACKOFF_MS_MAX) * (0.5 + Math.random() / 2);

const report = (
  { onAttempt }: Settings,
  { operation, reference }: Pick<ServiceRequest<unknown>, "operation" | "reference">,
  number: number,
  durationMs: number,
  { result, status, requestId, rate }: Attempt<unknown>,
  step: NextStep,
): void => {
  if (onAttempt === undefined) return;
  const event: AttemptEvent = {
    operation,
    reference,
    attempt: number,
    durationMs: Math.round(durationMs),
    result:
      result.kind === "refused" ? result.error.code : result.kind === "no_answer" ? result.error.reason : result.kind,
    status,
    requestId,
    rate,
    retryInMs: step.kind === "retry" ? Math.round(step.waitMs) : undefined,
  };
  // A log that fails, at once or later, must not change what the call reports about an order.
  (async () => onAttempt(event))().catch(() => {});
};
