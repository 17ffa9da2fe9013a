import { readFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import * as z from "#zod";
import {
  AbortedError,
  AirtimeClient,
  type AttemptEvent,
  type ClientOptions,
  DeliveryFailedError,
  InsufficientBalanceError,
  InvalidRequestError,
  LimitReachedError,
  NoAnswerError,
  OrderCancelledError,
  OutcomeUnknownError,
  PermissionError,
  PlanUnavailableError,
  PossibleDuplicateError,
  PriceChangedError,
  RateLimitedError,
  ReferenceReusedError,
  ServiceError,
  UnavailableError,
} from "../../../../client/src/index.ts";
import {
  breaksOff,
  drops,
  hangs,
  proxyAnswers,
  refuses,
  type Step,
  startScriptedServer,
  succeeds,
} from "../../../builders/network/scripted-server.ts";

const order = { networkId: 1, planId: 101, phoneNumber: "08031234567" };
const own = { reference: "DATA_1", amount: 500, description: "MTN 1GB for 08031234567", type: "data" };
/** As the service sends it. */
const transaction = { ...own, status: "success", phone_number: order.phoneNumber };
/** As the client returns it. */
const bought = { ...own, phoneNumber: order.phoneNumber, callerReference: "order-1" };
/** What waits for it is over at once: it is beyond any deadline here. */
const LATER = { "retry-after": "3600" };
const delivered = succeeds({ transaction }, { "idempotent-replayed": "true", "x-transaction-reference": "DATA_1" });
const refunded = { "x-transaction-reference": "DATA_1", "idempotent-replayed": "true" };

/** A client of a server with this script, and what both saw. */
const scripted = async (script: readonly Step[], options: Partial<ClientOptions> = {}) => {
  const { baseUrl, received } = await startScriptedServer(...script);
  const events: AttemptEvent[] = [];
  const onAttempt = (event: AttemptEvent): void => void events.push(event);
  const client = new AirtimeClient({ baseUrl, apiKey: "live_key", onAttempt, ...options });
  const sent = (): unknown[] => received.map(({ body }) => JSON.parse(body));
  return { client, received, events, sent };
};
const buy = (client: AirtimeClient, options = {}) => client.data.purchase(order, { reference: "order-1", ...options });
const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

const answer = z.object({ status: z.int(), headers: z.record(z.string(), z.string()), body: z.string() });
/** What the clients of all languages are tested with. */
const vectors = z
  .object({
    path: z.string(),
    order: z.object({
      network_id: z.int(),
      plan_id: z.int(),
      phone_number: z.string(),
      reference: z.string(),
    }),
    cancellation: z.unknown(),
    replay: answer,
    cancellations: z.array(z.extend(answer, { name: z.string() })),
    sequences: z.array(
      z.object({
        name: z.string(),
        answers: z.array(z.string()),
        sent: z.array(z.enum(["order", "cancellation"])),
        end: z.enum(["success", "processing", "failed", "unknown"]),
      }),
    ),
    answers: z.array(
      z.extend(answer, {
        name: z.string(),
        next: z.enum(["success", "processing", "failed", "retry", "cancel", "unknown"]),
        wait_s: z.optional(z.int()),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync("client/vectors/answers.json", "utf8")));

const checks = z
  .object({
    order: z.object({ nin: z.string(), is_consent: z.literal(true), reference: z.string() }),
    cancellation: z.unknown(),
    answers: z.array(z.extend(answer, { name: z.string() })),
    sequences: z.array(
      z.object({
        name: z.string(),
        answers: z.array(z.string()),
        sent: z.array(z.enum(["order", "cancellation"])),
        end: z.enum(["found", "processing", "failed", "unknown"]),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync("client/vectors/checks.json", "utf8")));

const sends =
  ({ status, headers, body }: z.output<typeof answer>): Step =>
  (response) =>
    response.writeHead(status, headers).end(body);

/** Finds an answer of a table by its name there. */
const namedOf =
  (answers: typeof checks.answers) =>
  (name: string): Step => {
    const found = answers.find((each) => each.name === name);
    if (found === undefined) throw new Error(`The table has no answer ${name}`);
    return sends(found);
  };
const named = namedOf([...vectors.answers, ...vectors.cancellations]);

const endOfOrder = (client: AirtimeClient): Promise<string> => {
  const { network_id: networkId, plan_id: planId, phone_number: phoneNumber, reference } = vectors.order;
  return client.data.purchase({ networkId, planId, phoneNumber }, { reference }).then(
    ({ status }) => status,
    (error: unknown) => {
      if (error instanceof ServiceError) return "failed";
      if (error instanceof OutcomeUnknownError) return "unknown";
      throw error;
    },
  );
};

describe.concurrent("the table of what to do with each answer", () => {
  test.each(vectors.answers)("$name: $next", async (vector) => {
    const after = vector.next === "cancel" ? named("cancelled") : sends(vectors.replay);
    const { client, received, events } = await scripted([sends(vector), after]);
    const result = await endOfOrder(client);
    const [first, second, ...others] = received.map(({ path, body }) => ({ path, body: JSON.parse(body) }));
    expect(first).toEqual({ path: `/v1${vectors.path}`, body: vectors.order });
    const expected = {
      success: { result: "success", second: undefined },
      processing: { result: "processing", second: undefined },
      failed: { result: "failed", second: undefined },
      retry: { result: "success", second: first },
      cancel: { result: "failed", second: { path: "/v1/transactions/cancel", body: vectors.cancellation } },
      unknown: { result: "unknown", second: undefined },
    };
    expect({ result, second }).toEqual(expected[vector.next]);
    expect(others).toEqual([]);
    if (vector.wait_s !== undefined) expect(events[0]?.retryInMs).toBeGreaterThanOrEqual(vector.wait_s * 1_000);
  });

  test.each(vectors.sequences)("$name: $end", async ({ answers, sent, end }) => {
    const { client, received } = await scripted(answers.map(named));
    await expect(endOfOrder(client)).resolves.toBe(end);
    expect(received.map(({ body }) => JSON.parse(body))).toEqual(sent.map((name) => vectors[name]));
  });

  test("has every error code of the interface", () => {
    const { components } = JSON.parse(readFileSync("docs/openapi.json", "utf8"));
    const codes: readonly string[] = components.schemas.Transaction.properties.error_code.anyOf[0].enum;
    const named = vectors.answers.map(({ headers }) => headers["x-error-code"]);
    expect(codes.filter((code) => !named.includes(code))).toEqual([]);
  });
});

describe.concurrent("an order whose first attempt has an unknown outcome", () => {
  const unknowns: readonly (readonly [string, Step])[] = [
    ["a dropped connection", drops],
    ["an answer that breaks off", breaksOff],
  ];
  test.each(unknowns)("is sent again with the same bytes after %s, and the replay is its answer", async (_, first) => {
    const { client, received } = await scripted([first, delivered]);
    await expect(buy(client)).resolves.toEqual({ ...bought, status: "success", replayed: true });
    expect(received.map(({ body }) => body)).toEqual([received[0]?.body, received[0]?.body]);
    expect(JSON.parse(received[0]?.body ?? "")).toEqual({
      network_id: 1,
      plan_id: 101,
      phone_number: "08031234567",
      reference: "order-1",
    });
  });

  test("is sent again after an attempt without an answer in time", async () => {
    const { client, events } = await scripted([hangs, delivered], { attemptTimeoutMs: 1_000 });
    await expect(buy(client)).resolves.toMatchObject({ status: "success" });
    expect(events.map(({ result }) => result)).toEqual(["timeout", "answered"]);
  });

  test("has failed when the replay reports the error of the first attempt", async () => {
    const { client } = await scripted([drops, refuses(502, "delivery_failed", refunded)]);
    const error = await errorOf(buy(client));
    expect(error).toBeInstanceOf(DeliveryFailedError);
    expect(error).toMatchObject({
      code: "delivery_failed",
      status: 502,
      reference: "order-1",
      transactionReference: "DATA_1",
      replayed: true,
    });
  });

  test("stays unknown at the deadline, with the last attempt as its cause", async () => {
    const { client, received } = await scripted([proxyAnswers(502), proxyAnswers(504, LATER)]);
    const error = await errorOf(buy(client));
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(Object(error).cause).toMatchObject({ name: "NoAnswerError", reason: "unreadable", status: 504 });
    expect(received).toHaveLength(2);
    const late = await scripted([drops], { timeoutMs: 1_000 });
    expect(await errorOf(buy(late.client))).toBeInstanceOf(OutcomeUnknownError);
  });

  test("stays unknown when the caller aborts during the attempt or the wait after it", async () => {
    const during = new AbortController();
    const hanging = await scripted([hangs]);
    setTimeout(() => during.abort(new Error("gone")), 200);
    const one = await errorOf(buy(hanging.client, { signal: during.signal }));
    expect(one).toMatchObject({ name: "OutcomeUnknownError", reference: "order-1", cause: { message: "gone" } });
    expect(hanging.events.map(({ result }) => result)).toEqual(["aborted"]);

    const waiting = new AbortController();
    const dropping = await scripted([drops], { onAttempt: () => setTimeout(() => waiting.abort(), 10) });
    expect(await errorOf(buy(dropping.client, { signal: waiting.signal }))).toBeInstanceOf(OutcomeUnknownError);
    expect(dropping.received).toHaveLength(1);
  });

  test("throws an error that has the reference which the client made", async () => {
    const { client, sent } = await scripted([proxyAnswers(502, LATER)]);
    const error = await errorOf(client.airtime.purchase({ network: "mtn", phoneNumber: "08031234567", amount: 100 }));
    expect(sent()).toEqual([
      { network: "mtn", phone_number: "08031234567", amount: 100, reference: Object(error).reference },
    ]);
    expect(Object(error).reference).toMatch(/^[a-p]{32}$/);
  });
});

describe.concurrent("an answer about another order", () => {
  // Which answers these are is in the table above.
  test("leaves the order unknown if nothing else comes", async () => {
    const another = { ...transaction, caller_reference: "order-2" };
    const { client, events } = await scripted([succeeds({ transaction: another }, LATER)]);
    expect(await errorOf(buy(client))).toBeInstanceOf(OutcomeUnknownError);
    expect(events[0]?.result).toBe("unreadable");
  });

  test("has the account's own price of an airtime purchase", async () => {
    const answer = { ...transaction, reference: "AIRTIME_1", type: "airtime", amount: 97 };
    const { client, received } = await scripted([succeeds({ transaction: answer })]);
    const topUp = { network: "mtn", phoneNumber: order.phoneNumber, amount: 100 };
    await expect(client.airtime.purchase(topUp, { reference: "topup-1" })).resolves.toMatchObject({ amount: 97 });
    expect(received).toHaveLength(1);
  });

  test("is not suspected where the phone number of the own order is masked", async () => {
    const { client } = await scripted([succeeds({ transaction: { ...transaction, phone_number: "*********67" } })]);
    await expect(buy(client)).resolves.toMatchObject({ status: "success", phoneNumber: "*********67" });
  });

  test("is no answer to a check: another person's result is not returned", async () => {
    const check = { ...{ title: "NIN Verification", amount: 150, reference: "VERIFY_1" }, status: "success" };
    const answer = (changes: object, name: string): Step =>
      succeeds({ transaction: { ...check, type: "nin_verification", ...changes }, result: { first_name: name } });
    const { client } = await scripted([
      answer({ caller_reference: "check-2" }, "OTHER"),
      answer({ type: "bvn_verification" }, "OTHER"),
      answer({}, "ADAEZE"),
    ]);
    const { result } = await client.nin.verify({ nin: "00000000000", isConsent: true }, { reference: "check-1" });
    expect(result).toEqual({ firstName: "ADAEZE" });
  });
});

describe.concurrent("a refusal without a transaction", () => {
  const undecided: readonly (readonly [string, Step, typeof ServiceError])[] = [
    ["403 ip_not_whitelisted", refuses(403, "ip_not_whitelisted"), PermissionError],
    ["429 with a long Retry-After", refuses(429, "rate_limited", LATER), RateLimitedError],
    ["503 with a long Retry-After", refuses(503, "provider_unavailable", LATER), UnavailableError],
    [
      "422 reference_reused, because the other order may be this one with earlier fields",
      refuses(422, "reference_reused", {}, { reference: ["Was used for a different request: choose another"] }),
      ReferenceReusedError,
    ],
    [
      "422 validation_failed on the reference, which may hold the phone number and is not sent in a cancellation",
      refuses(422, "validation_failed", {}, { reference: ["Must not contain the request's own phone number"] }),
      InvalidRequestError,
    ],
  ];
  test.each(undecided)(
    "leaves the order undecided, and a copy of it may still be placed: %s",
    async (_, refusal, cause) => {
      const { client, received } = await scripted([refusal]);
      const error = await errorOf(buy(client));
      expect(error).toBeInstanceOf(OutcomeUnknownError);
      expect(error).toMatchObject({
        reference: "order-1",
        message: expect.stringContaining("give it up with client.transactions.cancel"),
        requestId: "req-1",
        rate: { limit: 60, remaining: 59 },
      });
      expect(Object(error).cause).toBeInstanceOf(cause);
      expect(received).toHaveLength(1);
    },
  );

  const phone = { phone_number: ["Must be an 11-digit Nigerian mobile number"] };
  const lasting: readonly (readonly [string, Step, typeof ServiceError, object])[] = [
    ["400 insufficient_balance", refuses(400, "insufficient_balance"), InsufficientBalanceError, {}],
    [
      "422 validation_failed",
      refuses(422, "validation_failed", {}, phone),
      InvalidRequestError,
      { fields: { phoneNumber: phone.phone_number } },
    ],
    [
      "422 possible_duplicate",
      refuses(422, "possible_duplicate", { "x-duplicate-of": "DATA_1" }),
      PossibleDuplicateError,
      { duplicateOf: "DATA_1" },
    ],
    ["422 limit_reached", refuses(422, "limit_reached"), LimitReachedError, {}],
    ["422 price_changed", refuses(422, "price_changed"), PriceChangedError, {}],
    ["422 plan_unavailable", refuses(422, "plan_unavailable"), PlanUnavailableError, {}],
    ["a 400 that this release does not know", refuses(400, "a_later_code"), ServiceError, {}],
    [
      "a header, whose body breaks off",
      (response) => {
        response.writeHead(400, { "x-error-code": "insufficient_balance", "content-length": "100" });
        response.write('{"sta', () => response.destroy());
      },
      InsufficientBalanceError,
      {},
    ],
  ];
  const cancelled = succeeds({
    transaction: { ...transaction, status: "failed", error_code: "order_cancelled", reference: "DATA_9" },
  });
  test.each(lasting)(
    "that the order would meet again is final once the order is cancelled: %s",
    async (_, refusal, expected, details) => {
      for (const script of [[refusal], [drops, refusal]]) {
        const { client, received, events } = await scripted([...script, proxyAnswers(502), cancelled]);
        const error = await errorOf(buy(client));
        expect(error).toBeInstanceOf(expected);
        expect(error).toMatchObject({
          ...details,
          reference: "order-1",
          transactionReference: "DATA_9",
          message: expect.stringMatching(/./),
        });
        expect(received.slice(script.length)).toMatchObject([
          { method: "POST", path: "/v1/transactions/cancel", body: '{"reference":"order-1","type":"data"}' },
          { path: "/v1/transactions/cancel" },
        ]);
        expect(events.at(-1)).toMatchObject({ operation: "cancelOrder", result: "answered" });
      }
    },
  );

  const refusal = refuses(400, "insufficient_balance");
  test("leaves the order undecided if its cancellation gets no answer", async () => {
    const { client, received } = await scripted([refusal, drops, proxyAnswers(502, LATER)]);
    expect(await errorOf(buy(client))).toMatchObject({
      name: "OutcomeUnknownError",
      cause: { name: "InsufficientBalanceError", transactionReference: undefined },
    });
    expect(received).toHaveLength(3);
  });

  test("of an identity check is final once the check is cancelled", async () => {
    const { client, received } = await scripted([refusal, cancelled]);
    const check = client.bvn.retrieve({ phoneNumber: "08000000000", isConsent: true }, { reference: "check-1" });
    expect(await errorOf(check)).toMatchObject({ name: "InsufficientBalanceError", transactionReference: "DATA_9" });
    expect(received[1]?.body).toBe('{"reference":"check-1","type":"bvn_retrieval"}');
  });

  test("of a cancelled order names the transaction of the cancellation, and is final", async () => {
    const { client, received } = await scripted([refuses(422, "order_cancelled", refunded)]);
    expect(await errorOf(buy(client))).toBeInstanceOf(OrderCancelledError);
    expect(received).toHaveLength(1);
  });
});

describe.concurrent("an order that is not placed so far", () => {
  test("waits as long as Retry-After says", async () => {
    const { client, events } = await scripted([refuses(429, "rate_limited", { "retry-after": "2" }), delivered]);
    const startedAt = performance.now();
    await buy(client);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(2_000);
    expect(events[0]?.retryInMs).toBeGreaterThanOrEqual(2_000);
  });

  test("is sent again after a pause, and not at once, if the date in Retry-After has passed", async () => {
    const past = refuses(429, "rate_limited", { "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" });
    const { client, events } = await scripted([past, delivered]);
    await buy(client);
    expect(events[0]?.retryInMs).toBeGreaterThan(0);
  });

  test("is undecided if the caller aborts between a cancellation that found it placed and its replay", async () => {
    const controller = new AbortController();
    const { client, received } = await scripted(
      [
        refuses(400, "insufficient_balance"),
        succeeds({ transaction: { ...transaction, caller_reference: "order-1" } }),
      ],
      { onAttempt: ({ operation }) => operation === "cancelOrder" && controller.abort() },
    );
    const error = await errorOf(buy(client, { signal: controller.signal }));
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(received).toHaveLength(2);
  });

  test("throws an AbortedError if the caller aborted before the first attempt, and is undecided after a refusal", async () => {
    const early = await scripted([delivered]);
    const aborted = await errorOf(buy(early.client, { signal: AbortSignal.abort() }));
    expect(aborted).toBeInstanceOf(AbortedError);
    expect(aborted).toMatchObject({ reference: "order-1" });
    expect(early.received).toHaveLength(0);

    const controller = new AbortController();
    const refused = await scripted([refuses(429, "rate_limited", { "retry-after": "5" })], {
      onAttempt: () => setTimeout(() => controller.abort(), 10),
    });
    expect(await errorOf(buy(refused.client, { signal: controller.signal }))).toBeInstanceOf(OutcomeUnknownError);
  });
});

describe.concurrent("an order", () => {
  test("that is processing is an answer, and is not sent again", async () => {
    const processing = { ...transaction, status: "processing" };
    const { client, received } = await scripted([
      succeeds({ transaction: processing }, { "x-estimated-delivery": "90" }),
    ]);
    await expect(buy(client)).resolves.toEqual({
      ...bought,
      status: "processing",
      replayed: false,
      estimatedDeliveryS: 90,
    });
    expect(received).toHaveLength(1);
  });

  test("is not sent if its reference has no value, or is among the order's fields", async () => {
    const { client, received } = await scripted([delivered]);
    for (const reference of [undefined, null, "", "a b", "x".repeat(101), 17, ".", ".."]) {
      await expect(buy(client, { reference })).rejects.toThrow("reference must be");
    }
    const body: typeof order & { reference: string } = { ...order, reference: "order-1" };
    await expect(client.data.purchase(body)).rejects.toThrow("second argument");
    expect(received).toHaveLength(0);
  });

  test("ends at its deadline even if fetch ignores its signal", async () => {
    const { client } = await scripted([], { fetch: () => new Promise(() => {}), timeoutMs: 300 });
    const error = await errorOf(buy(client));
    expect(error).toMatchObject({ name: "OutcomeUnknownError", cause: { reason: "timeout" } });
  });

  test("stays unknown if fetch returns something that is no response, because the order may be sent", async () => {
    const { client } = await scripted([], { fetch: async () => JSON.parse("{}"), timeoutMs: 300 });
    expect(await errorOf(buy(client))).toMatchObject({ name: "OutcomeUnknownError", cause: { reason: "unreadable" } });
  });

  test("is sent again after an answer without end, which is cut", async () => {
    let sentBytes = 0;
    let isCut = false;
    const spaces = " ".repeat(100_000);
    const pours: Step = (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.on("close", () => {
        isCut = true;
      });
      const pour = (): void => {
        while (!response.destroyed && sentBytes < 100_000_000) {
          sentBytes += spaces.length;
          if (!response.write(spaces)) return void response.once("drain", pour);
        }
      };
      pour();
    };
    const { client, received } = await scripted([pours, delivered]);
    await expect(buy(client)).resolves.toMatchObject({ status: "success" });
    expect(received).toHaveLength(2);
    expect(isCut).toBe(true);
    // The system's buffers take some beyond the limit of 8 MB.
    expect(sentBytes).toBeLessThan(50_000_000);
  });

  test("has the answer of a fetch whose bodies are no streams of the web, such as node-fetch", async () => {
    const { client } = await scripted([delivered], {
      fetch: async (...request) => {
        const response = await fetch(...request);
        const text = await response.text();
        return new Proxy(response, {
          get: (target, name) =>
            name === "body" ? {} : name === "text" ? async () => text : Reflect.get(target, name, target),
        });
      },
    });
    await expect(buy(client)).resolves.toMatchObject({ status: "success" });
  });

  test("is not changed by a hook that throws or rejects", async () => {
    const throwing = await scripted([delivered], {
      onAttempt: () => {
        throw new Error("log");
      },
    });
    await expect(buy(throwing.client)).resolves.toMatchObject({ status: "success" });
    const rejecting = await scripted([delivered], { onAttempt: async () => Promise.reject(new Error("log")) });
    await expect(buy(rejecting.client)).resolves.toMatchObject({ status: "success" });
  });

  test("shows its hook and its errors neither the key nor the phone number", async () => {
    const { client, events } = await scripted([drops, refuses(403, "account_restricted")]);
    const error = await errorOf(buy(client));
    const { inspect } = await import("node:util");
    const shown = inspect([events, error, client], { depth: 10, showHidden: true });
    expect(shown).toContain("order-1");
    expect(shown).not.toContain("live_key");
    expect(shown).not.toContain("8031234567");
  });
});

describe.concurrent("an identity check", () => {
  const check = { nin: "00000000000", isConsent: true } as const;
  const reported = {
    ...{ title: "NIN Verification", type: "nin_verification" },
    ...{ amount: 150, reference: "VERIFY_1", status: "success" },
  };
  const person = { first_name: "ADAEZE", date_of_birth: "1971-04-27" };
  const found = succeeds({ transaction: reported, result: person }, { "idempotent-replayed": "true" });
  const inFlight = succeeds({ transaction: { ...reported, status: "processing" }, result: null });

  test.each(checks.sequences)("$name: $end", async ({ answers, sent, end }) => {
    const { client, received } = await scripted(answers.map(namedOf(checks.answers)));
    const { nin, is_consent: isConsent, reference } = checks.order;
    const ended = client.nin.verify({ nin, isConsent }, { reference }).then(
      ({ status, result }) => ({ status: status === "success" ? "found" : status, firstName: result?.firstName }),
      (error: unknown) => ({ status: error instanceof ServiceError ? "failed" : Object(error).name }),
    );
    const ends = {
      found: { status: "found", firstName: "ADAEZE" },
      processing: { status: "processing", firstName: "ADAEZE" },
      failed: { status: "failed" },
      unknown: { status: "OutcomeUnknownError" },
    };
    await expect(ended).resolves.toEqual(ends[end]);
    expect(received.map(({ body }) => JSON.parse(body))).toEqual(sent.map((name) => checks[name]));
  });

  test("whose first request is in flight is sent again until its result is there", async () => {
    const { client, received } = await scripted([drops, inFlight, inFlight, found]);
    await expect(client.nin.verify(check, { reference: "check-1" })).resolves.toEqual({
      ...reported,
      callerReference: "check-1",
      replayed: true,
      result: { firstName: "ADAEZE", dateOfBirth: "1971-04-27" },
    });
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
  });

  test("is sent with the evidence of the consent as the service reads it", async () => {
    const { client, sent } = await scripted([found]);
    const consentEvidence = {
      method: "otp",
      id: "otp-1",
      obtainedAt: "2026-11-21T09:30:00Z",
      textVersion: "3",
    } as const;
    await client.nin.verify({ ...check, consentEvidence }, { reference: "check-1" });
    const evidence = { method: "otp", id: "otp-1", obtained_at: "2026-11-21T09:30:00Z", text_version: "3" };
    expect(sent()).toEqual([{ nin: check.nin, is_consent: true, consent_evidence: evidence, reference: "check-1" }]);
  });

  test("that is still in flight at the deadline is answered as processing without a result", async () => {
    const { client } = await scripted([inFlight, drops, proxyAnswers(502, LATER)]);
    const answer = await client.nin.verify(check, { reference: "check-1" });
    expect(answer).toMatchObject({ status: "processing", result: null });
  });

  test("that is processing stays unknown when its retry is refused, and has failed when the replay says so", async () => {
    const refused = await scripted([inFlight, refuses(401, "invalid_api_key")]);
    expect(await errorOf(refused.client.nin.verify(check))).toBeInstanceOf(OutcomeUnknownError);
    const failed = await scripted([inFlight, refuses(504, "provider_timeout", refunded)]);
    await expect(failed.client.nin.verify(check)).rejects.toMatchObject({ name: "ProviderTimeoutError" });
  });

  test("whose result is no longer kept names the transaction that was charged", async () => {
    const { client } = await scripted([drops, refuses(422, "reference_reused", { "x-transaction-reference": "V_1" })]);
    const error = await errorOf(client.nin.verify(check, { reference: "check-1" }));
    expect(error).toMatchObject({ name: "ReferenceReusedError", transactionReference: "V_1" });
  });
});

describe.concurrent("a read", () => {
  const wallet = {
    currency: "NGN",
    balance: 99_500,
    low_balance_threshold: null,
    updated_at: "2026-11-21T09:30:01.200Z",
  };

  test("is tried again until the deadline, and then throws a NoAnswerError", async () => {
    const passing = await scripted([proxyAnswers(502), succeeds({ wallet })]);
    await expect(passing.client.wallet.get()).resolves.toEqual({
      currency: "NGN",
      balance: 99_500,
      lowBalanceThreshold: null,
      updatedAt: "2026-11-21T09:30:01.200Z",
    });
    const { client } = await scripted([drops], { timeoutMs: 1_500 });
    await expect(client.wallet.get()).rejects.toBeInstanceOf(NoAnswerError);
  });

  test("that is aborted throws an AbortedError", async () => {
    const { client } = await scripted([hangs]);
    await expect(client.wallet.get({ signal: AbortSignal.timeout(100) })).rejects.toBeInstanceOf(AbortedError);
  });
});

const settings = z
  .object({
    cases: z.array(
      z.object({ base_url: z.string(), api_key: z.string(), refused: z.nullable(z.enum(["base_url", "api_key"])) }),
    ),
  })
  .parse(JSON.parse(readFileSync("client/vectors/settings.json", "utf8")));

test.each(settings.cases)("$refused is refused of $base_url and $api_key, without showing the key", (vector) => {
  const make = () => new AirtimeClient({ baseUrl: vector.base_url, apiKey: vector.api_key });
  if (vector.refused === null) expect(make).not.toThrow();
  else
    expect(make).toThrow(vector.refused === "base_url" ? /^baseUrl [^@]*$/ : /^apiKey must be a key .* test_\.\.\.$/);
});

test("a client takes a base URL as an environment variable has it, with a space at its end", async () => {
  const { baseUrl, received } = await startScriptedServer(delivered);
  const client = new AirtimeClient({ baseUrl: ` ${baseUrl}/ `, apiKey: "live_key" });
  await expect(buy(client)).resolves.toMatchObject({ status: "success" });
  expect(received[0]?.path).toBe("/v1/vtu/data/purchase");
});

test("on Deno the client keeps no connections, because Deno repeats requests on them by itself", async () => {
  const pool = { name: "without kept connections" };
  const options: unknown[] = [];
  const createHttpClient = (given: unknown): unknown => {
    options.push(given);
    return pool;
  };
  const fetch = vi.fn<typeof globalThis.fetch>(() => Promise.reject(new Error("not sent")));
  vi.stubGlobal("Deno", { createHttpClient });
  vi.stubGlobal("fetch", fetch);
  try {
    const client = new AirtimeClient({ baseUrl: "https://example.com/v1", apiKey: "live_key", timeoutMs: 500 });
    await expect(buy(client)).rejects.toBeInstanceOf(OutcomeUnknownError);
  } finally {
    vi.unstubAllGlobals();
  }
  expect(options).toEqual([{ poolMaxIdlePerHost: 0 }]);
  expect(fetch.mock.calls[0]?.[1]).toMatchObject({ method: "POST", redirect: "manual", client: pool });
});
