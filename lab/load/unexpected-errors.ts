import { expect } from "vitest";
import type { Results } from "./results.ts";
import type { ServiceProcess } from "./service-process.ts";

/** Log events of faults of the service. */
const UNEXPECTED = [
  "request.failed",
  "message.failed",
  "invocation.failed",
  "promise.unhandled",
  "stream.given_up",
] as const;

/** An emulator did not respond within 2 s: the load causes this. */
const AWS_TIMEOUT = '"error":"TimeoutError"';
/** Errors of the strict DynamoDB layer that lasted through all retries: the request then fails without an effect. */
const AWS_REFUSALS = ["ThrottlingException", "ProvisionedThroughputExceededException"].map(
  (name) => `"error":"${name}"`,
);
/**
 * A stream's or a schedule's function runs again. On a busy machine 5 s of retries are two or three attempts, each of which
 * may meet a hold.
 */
const HELD = /"event":"invocation\.failed".*"error":"TransactionConflictException"/;

/** The log has no unexpected errors, except those that the load causes and those that the run allows. */
export const expectNoUnexpectedErrors = (
  service: ServiceProcess,
  allowed: readonly (typeof UNEXPECTED)[number][] = [],
): void => {
  const events = UNEXPECTED.filter((event) => !allowed.includes(event));
  const lines = service.logLines();
  const unexpected = lines.filter((line) => events.some((event) => line.includes(`"event":"${event}"`)));
  const expected = [AWS_TIMEOUT, ...(service.strict ? AWS_REFUSALS : [])];
  const isExpected = (line: string): boolean =>
    expected.some((text) => line.includes(text)) || (service.strict !== undefined && HELD.test(line));
  expect(service.strict?.notSimulated ?? []).toEqual([]);
  expect(unexpected.filter((line) => !isExpected(line))).toEqual([]);
  expect(lines.filter((line) => !line.startsWith("{"))).toEqual([]);
};

/** The strain on the service: calls to emulators that timed out after 2 s, and its peak memory. */
export const strainOf = (service: ServiceProcess): Results => ({
  "AWS calls timed out": service.logLines().filter((line) => line.includes(AWS_TIMEOUT)).length,
  "peak memory, MB": service.peakMemoryMb(),
  ...(service.strict && { "strict AWS": service.strict.counts }),
});
