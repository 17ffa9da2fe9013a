import type { IncomingHttpHeaders } from "node:http";
import { expect } from "vitest";
import { errorEnvelope } from "../../shared/contract/envelope.ts";
import { headers } from "../../shared/contract/headers.ts";
import type { FuzzedRequest } from "./arbitraries.ts";
import type { ContractDocument } from "./document.ts";

/** An answer as it came; headers by their lower-case names. */
export type RawAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
};

const NO_SCHEMA = {};

/** The answer to a request that was made from the document is one that the document tells of. */
export const expectDocumented = (
  document: ContractDocument,
  { operation }: Pick<FuzzedRequest, "operation">,
  { status, headers: answered, text }: RawAnswer,
): void => {
  for (const name of [headers.rateLimit, headers.rateRemaining, headers.requestId]) {
    expect(answered[name], `${status} ${name}`).toMatch(/./);
  }
  // It is documented, for what nobody foresaw; nothing that a caller sends may bring it about.
  expect(status, text).not.toBe(500);
  const documented = operation && document.operation(operation).responses.get(status);
  if (!documented) {
    // Only what is on no route may be answered beside the document: as such.
    expect(operation, `${status} is not documented: ${text}`).toBeUndefined();
    expect(status).toBe(404);
    expect(answered[headers.errorCode]).toBe("not_found");
    expect(errorEnvelope.safeParse(JSON.parse(text)).success).toBe(true);
    return;
  }
  for (const [name, { required, schema }] of documented.headers) {
    const value = answered[name];
    if (required) expect(value, name).toBeDefined();
    if (value !== undefined && name === headers.errorCode) expect(document.judge(schema)(value)).toBeUndefined();
  }
  if (documented.mediaType === undefined) {
    expect(text).toBe("");
    return;
  }
  expect(answered["content-type"]).toContain(documented.mediaType);
  if (documented.mediaType !== "application/json") return;
  expect(document.judge(documented.schema ?? NO_SCHEMA)(JSON.parse(text)), text).toBeUndefined();
};
