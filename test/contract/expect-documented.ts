import type { IncomingHttpHeaders } from "node:http";
import { expect } from "vitest";
import { errorEnvelope } from "../../shared/contract/envelope.ts";
import { headers } from "../../shared/contract/headers.ts";
import type { FuzzedRequest } from "./arbitraries.ts";
import type { ContractDocument } from "./document.ts";

/** A response; headers have lower-case names. */
export type RawResponse = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
};

const NO_SCHEMA = {};

/** Expects the response to a request from `requestsFrom` to be documented. */
export const expectDocumented = (
  document: ContractDocument,
  { operation }: Pick<FuzzedRequest, "operation">,
  { status, headers: received, text }: RawResponse,
): void => {
  for (const name of [headers.rateLimit, headers.rateRemaining, headers.requestId]) {
    expect(received[name], `${status} ${name}`).toMatch(/./);
  }
  // 500 is documented for unexpected errors; no request of a caller may cause one.
  expect(status, text).not.toBe(500);
  const documented = operation && document.operation(operation).responses.get(status);
  if (!documented) {
    // Only a request without a route may get an undocumented response: 404 not_found.
    expect(operation, `${status} is not documented: ${text}`).toBeUndefined();
    expect(status).toBe(404);
    expect(received[headers.errorCode]).toBe("not_found");
    expect(errorEnvelope.safeParse(JSON.parse(text)).success).toBe(true);
    return;
  }
  for (const [name, { required, schema }] of documented.headers) {
    const value = received[name];
    if (required) expect(value, name).toBeDefined();
    if (value !== undefined && name === headers.errorCode) expect(document.validate(schema)(value)).toBeUndefined();
  }
  if (documented.mediaType === undefined) {
    expect(text).toBe("");
    return;
  }
  expect(received["content-type"]).toContain(documented.mediaType);
  if (documented.mediaType !== "application/json") return;
  expect(document.validate(documented.schema ?? NO_SCHEMA)(JSON.parse(text)), text).toBeUndefined();
};
