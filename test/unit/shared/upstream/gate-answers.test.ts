import fc from "fast-check";
import { expect, test } from "vitest";
import * as z from "#zod";
import { classify, classifyCheck } from "../../../../shared/upstream/classify.ts";
import type { Answered } from "../../../../shared/upstream/exchange.ts";
import { PROFILE } from "../../../builders/upstream/upstream-simulator.ts";

/**
 * Goal: whatever stands in front of the upstream answers, an order is refunded only if the upstream itself refused it.
 * The rule is written down here a second time, from decision 0002.
 */
const envelope = z.object({
  status: z.boolean(),
  message: z.catch(z.optional(z.string()), undefined),
  data: z.catch(
    z.optional(z.object({ transaction: z.catch(z.optional(z.object({ status: z.unknown() })), undefined) })),
    {},
  ),
});
const limitHeaders = ["x-ratelimit-limit", "x-ratelimit-remaining", "retry-after"] as const;

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text.trim());
  } catch {
    return undefined;
  }
};
const mayRefuse = ({ status, headers, body }: Answered): boolean => {
  const statesLimit = limitHeaders.some((name) => headers[name] !== undefined);
  if (status === 429 && statesLimit) return true;
  const sent = envelope.safeParse(jsonOf(body)).data;
  if (sent === undefined) return false;
  if (sent.message === undefined) return !sent.status && statesLimit;
  return !sent.status || sent.data?.transaction?.status === "failed";
};

/** A field of an envelope as it should be, as something else would have it, or absent. */
const field = (right: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 9, arbitrary: right }, fc.constant(undefined), fc.jsonValue({ maxDepth: 2 }));
const message = fc.oneof(
  fc.string(),
  fc.constantFrom("Forbidden", "Not Found", "No record was found", "Insufficient balance", "Pending", "Duplicate", ""),
);
const transaction = fc.record({
  reference: field(fc.string()),
  status: field(fc.constantFrom("success", "failed", "processing")),
  amount: field(fc.integer()),
});
const anyObject = fc.record({
  status: field(fc.boolean()),
  message: field(message),
  errors: field(fc.dictionary(fc.constantFrom("phone_number", "plan_id", "reference", "nin"), fc.array(fc.string()))),
  data: field(fc.record({ transaction: field(transaction), result: field(fc.dictionary(fc.string(), fc.string())) })),
  transaction: fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, transaction),
});
const anyJson = fc.oneof({ weight: 3, arbitrary: anyObject }, fc.jsonValue()).map((value) => JSON.stringify(value));
/** A body as it was sent, or what a gate makes of it: a page around it, a part of it, an array, a text. */
const anyBody = fc.oneof(
  { weight: 4, arbitrary: anyJson },
  fc.constantFrom("", " ", "\uFEFF", "<html><h1>403 Forbidden</h1></html>", "404 page not found", "null"),
  fc.string({ unit: "binary" }),
  anyJson.map((text) => `<html><pre>${text}</pre></html>`),
  anyJson.map((text) => `\uFEFF${text}\n`),
  anyJson.map((text) => `[${text}]`),
  anyJson.map((text) => JSON.stringify(text)),
  fc.tuple(anyJson, fc.nat()).map(([text, at]) => text.slice(0, at % (text.length + 1))),
);
const headerValue = fc.oneof(fc.nat({ max: 99_999 }).map(String), fc.string());
const anyHeaders = fc.dictionary(
  fc.constantFrom(...limitHeaders, "content-type", "server", "via", "location", "cf-ray"),
  headerValue,
);
const refusing = fc.constantFrom(200, 400, 401, 403, 404, 405, 413, 415, 422, 429);
const anyAnswer: fc.Arbitrary<Answered> = fc.record({
  kind: fc.constant("answered" as const),
  status: fc.oneof({ weight: 3, arbitrary: refusing }, fc.integer({ min: 200, max: 599 })),
  headers: anyHeaders,
  body: anyBody,
  isAboutOrder: fc.boolean(),
});
const FIELDS = ["phone_number", "plan_id", "nin"] as const;

test("an order is refunded, and a check has no record, only after the upstream's own refusal, whatever answers in front of it", () => {
  const kinds = { orders: new Set<string>(), checks: new Set<string>() };
  fc.assert(
    fc.property(anyAnswer, (answer) => {
      const [order, check] = [classify(PROFILE, answer, FIELDS).kind, classifyCheck(PROFILE, answer, FIELDS).kind];
      kinds.orders.add(order);
      kinds.checks.add(check);
      for (const kind of [order, check]) {
        if (["refused", "no_record", "account_error"].includes(kind)) expect(mayRefuse(answer)).toBe(true);
      }
      if (order === "delivered") expect(answer.status).toBe(200);
      if (check === "found") expect([answer.status, jsonOf(answer.body)]).toMatchObject([200, { status: true }]);
    }),
    { numRuns: 5_000 },
  );
  expect([...kinds.orders]).toEqual(expect.arrayContaining(["unknown", "refused", "account_error"]));
  expect([...kinds.checks]).toEqual(expect.arrayContaining(["found", "no_record", "refused", "account_error"]));
});
