import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestService, type TestService } from "../builders/service/service.ts";
import { type FuzzedRequest, requestsFrom } from "./arbitraries.ts";
import { type ContractDocument, readDocument } from "./document.ts";
import { expectDocumented } from "./expect-documented.ts";

const REQUESTS = 300;
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_121);
/** Requests per key: below every rate limit, so that most of them reach the operation. */
const REQUESTS_PER_KEY = 20;

let service: TestService;
let document: ContractDocument;
beforeAll(async () => {
  // The magic number without a response must not delay the others.
  service = await startTestService({ stallMs: 20 });
  document = readDocument(await (await fetch(`${service.baseUrl}/openapi.json`)).json());
});
afterAll(() => service.stop());

/** Keys that have requests left. */
const newKeys = () => {
  let left = 0;
  let keys = { live: "", test: "" };
  return async (mode: FuzzedRequest["mode"]): Promise<string | undefined> => {
    if (mode === "none") return undefined;
    if (mode === "wrong") return "live_wrong";
    if (left === 0) {
      const caller = await service.newCaller({ naira: 100_000 });
      keys = { live: caller.key, test: await caller.newKey({ mode: "test" }) };
      left = REQUESTS_PER_KEY;
    }
    left -= 1;
    return keys[mode];
  };
};

test(`${REQUESTS} random valid and invalid requests get documented responses (seed ${SEED})`, async () => {
  const keyFor = newKeys();
  const seen = new Map<number, number>();

  const property = async (request: FuzzedRequest): Promise<void> => {
    const key = await keyFor(request.mode);
    const response = await fetch(`${service.baseUrl}${request.path}`, {
      method: request.method,
      headers: {
        ...(request.body !== undefined && { "content-type": "application/json" }),
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...request.headers,
      },
      ...(request.body !== undefined && { body: request.body }),
    });
    const { status } = response;
    seen.set(status, (seen.get(status) ?? 0) + 1);
    const text = await response.text();
    expectDocumented(document, request, { status, headers: Object.fromEntries(response.headers), text });
  };

  await fc.assert(fc.asyncProperty(requestsFrom(document), property), { seed: SEED, numRuns: REQUESTS });

  // Successes and errors occurred many times.
  for (const status of [200, 400, 401, 404, 422]) expect(seen.get(status), String(status)).toBeGreaterThan(10);
  const broken = [...seen].reduce((sum, [status, count]) => sum + (status > 500 ? count : 0), 0);
  expect(broken).toBeGreaterThan(1);
});
