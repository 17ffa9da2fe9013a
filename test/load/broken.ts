import { expect } from "vitest";
import type { Figures } from "./figures.ts";
import type { ServiceProcess } from "./service-process.ts";

/** What nobody foresaw: an error that no rule turned into an answer, an invocation that failed, a promise that nobody awaited. */
const BROKEN = [
  "request.failed",
  "message.failed",
  "invocation.failed",
  "promise.unhandled",
  "stream.given_up",
] as const;

/** AWS, that is its stand-in on this machine, did not answer in 2 s: that is for the load to bring about, and what follows from it. */
const AWS_TIMEOUT = '"error":"TimeoutError"';
const UNKNOWN_AFTER_TIMEOUT = '"error":"OutcomeUnknown"';
/** What strict AWS says where no try of ours got through: the request then fails without an effect. */
const AWS_REFUSALS = ["ThrottlingException", "ProvisionedThroughputExceededException"].map(
  (name) => `"error":"${name}"`,
);

/** The service's log tells of nothing that broke, except what was meant to. */
export const expectNothingBroke = (service: ServiceProcess, meant: readonly (typeof BROKEN)[number][] = []): void => {
  const events = BROKEN.filter((event) => !meant.includes(event));
  const lines = service.logLines();
  const broken = lines.filter((line) => events.some((event) => line.includes(`"event":"${event}"`)));
  const strain = [AWS_TIMEOUT, UNKNOWN_AFTER_TIMEOUT, ...(service.strict ? AWS_REFUSALS : [])];
  const isStrain = (line: string): boolean => strain.some((text) => line.includes(text));
  expect(service.strict?.notSimulated ?? []).toEqual([]);
  expect(broken.filter((line) => !isStrain(line))).toEqual([]);
  expect(lines.filter((line) => !line.startsWith("{"))).toEqual([]);
};

/** How hard it was for the service: calls to the stand-ins for AWS that it gave up after 2 s, and the most memory that it held. */
export const strainOn = (service: ServiceProcess): Figures => ({
  "AWS calls given up": service.logLines().filter((line) => line.includes(AWS_TIMEOUT)).length,
  "peak memory_mb": service.peakMemoryMb(),
  ...(service.strict && { "strict AWS": service.strict.counts }),
});
