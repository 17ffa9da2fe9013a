import { afterEach, describe, expect, test, vi } from "vitest";
import * as z from "#zod";
import type { Admit } from "../../../../shared/call/call.ts";
import { errorEnvelope } from "../../../../shared/contract/envelope.ts";
import { errorCodes, errors, OutcomeUnknown, ServiceError } from "../../../../shared/contract/errors.ts";
import { ALL_ENTITLEMENTS } from "../../../../shared/contract/permission.ts";
import { purchaseRoutes, readAccountRoutes } from "../../../../shared/contract/routes.ts";
import { apiHandler, type OperationOf } from "../../../../shared/lambda/api-handler.ts";
import { UnprocessedKeysError } from "../../../../shared/ledger/get-item.ts";
import { openGateway } from "../../../../tools/local/gateway.ts";
import { type ApiEventChanges, anApiEvent } from "../../../builders/aws/api-event.ts";
import { aLambdaContext } from "../../../builders/aws/lambda-context.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";

/** Of every response. */
const protecting = {
  "content-security-policy": "object-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  "strict-transport-security": "max-age=31536000",
  "x-content-type-options": "nosniff",
};

afterEach(() => {
  vi.restoreAllMocks();
});

const caller = { accountId: "acc_1", keyId: "key_1", mode: "live", entitlements: ALL_ENTITLEMENTS } as const;
const admitted: Admit = async () => ({ rate: { limit: 60, remaining: 41 }, caller });
const transaction = {
  reference: "DATA_1",
  status: "success",
  amount: 500,
  description: "MTN 1GB",
  type: "data",
  caller_reference: "order-1",
  phone_number: "08031234567",
} as const;

type Purchase = OperationOf<typeof purchaseRoutes.buyData>;
const refuse = () => Promise.reject(new Error("Another route's operation was called"));
const bought: Purchase = async () => ({ message: "Delivered", data: { transaction } });

const responseSchema = z.object({
  statusCode: z.number(),
  headers: z.record(z.string(), z.string()),
  body: z.optional(z.string()),
  isBase64Encoded: z.optional(z.boolean()),
});

/** What API Gateway answers for a failed invocation. */
const asByThePlatform = {
  statusCode: 500,
  headers: { "content-type": "application/json" },
  body: '{"message":"Internal Server Error"}',
  json: expect.any(Function),
};

/** Sends data purchases to a handler whose operation is `run`. */
const purchaseHandler = (run: Purchase = bought, admit: Admit = admitted) => {
  const handler = apiHandler(purchaseRoutes, admit, { buyData: run, buyAirtime: refuse, cancelOrder: refuse });
  return async (changes: ApiEventChanges = {}) => {
    const event = anApiEvent({
      method: "POST",
      path: "/v1/vtu/data/purchase",
      body: JSON.stringify({ network_id: 1, plan_id: 101, phone_number: "08031234567" }),
      ...changes,
    });
    const response = responseSchema.parse(await handler(event, aLambdaContext()));
    return { ...response, json: (): unknown => JSON.parse(response.body ?? "") };
  };
};
const ask = (run?: Purchase, admit?: Admit) => purchaseHandler(run, admit)();

describe("a successful response", () => {
  test("a successful response is 200 with status, message and data, the rate of the key and the request's id", async () => {
    const { statusCode, headers, json } = await ask();
    expect(statusCode).toBe(200);
    expect(json()).toEqual({ status: true, message: "Delivered", data: { transaction } });
    expect(headers).toEqual({
      "cache-control": "no-store",
      "content-type": "application/json; charset=utf-8",
      ...protecting,
      "x-ratelimit-limit": "60",
      "x-ratelimit-remaining": "41",
      "x-request-id": "req-0001",
    });
  });

  test("a successful response keeps the operation's own headers", async () => {
    const { headers } = await ask(async () => ({
      message: "Delivered",
      data: { transaction },
      headers: { "x-transaction-reference": "DATA_1" },
    }));
    expect(headers).toMatchObject({ "x-transaction-reference": "DATA_1", "x-ratelimit-remaining": "41" });
  });

  test("a successful response comes from an operation that got the parsed input, the caller and the time that is left", async () => {
    const calls: Parameters<Purchase>[0][] = [];
    await ask(async (call) => {
      calls.push(call);
      return bought(call);
    });
    expect(calls).toHaveLength(1);
    expect(calls[0]?.input).toEqual({ network_id: 1, plan_id: 101, phone_number: "08031234567" });
    expect(calls[0]?.caller).toEqual(caller);
    expect(calls[0]?.deadline.remainingMs()).toBe(29_000);
  });

  test("the line of a request has the time that its requests to the upstream took, if there were some", async () => {
    const log = captureLog();
    await ask(async (call) => {
      call.deadline.upstreamMs = 150;
      return bought(call);
    });
    await ask();
    expect(log.lines("request.answered").map((line) => line.upstream_ms)).toEqual([150, undefined]);
  });

  test("a successful response holds no field that the route does not name", async () => {
    const leaky = { ...transaction, write_token: "secret" };
    const { json } = await ask(async () => ({ message: "Delivered", data: { transaction: leaky } }));
    expect(json()).toEqual({ status: true, message: "Delivered", data: { transaction } });
  });

  test("an order's response that breaks the route's schema is answered as by the platform, because the order is charged", async () => {
    const response = await ask(async () => ({
      message: "Delivered",
      data: { transaction: { ...transaction, amount: Number.NaN } },
    }));
    expect(response).toEqual(asByThePlatform);
  });
});

test("a prepared response is sent as it is with its own and the common headers, and a 304 has no body", async () => {
  const zipped = await ask(async () => ({
    statusCode: 200,
    body: "H4sI",
    isBase64Encoded: true,
    headers: { etag: 'W/"1"', "content-encoding": "gzip" },
  }));
  expect(zipped).toMatchObject({ statusCode: 200, body: "H4sI", isBase64Encoded: true });
  expect(zipped.headers).toMatchObject({ etag: 'W/"1"', "content-encoding": "gzip", "x-ratelimit-remaining": "41" });

  const unchanged = await ask(async () => ({ statusCode: 304, headers: { etag: 'W/"1"' } }));
  expect(unchanged).toMatchObject({ statusCode: 304 });
  expect(unchanged.body).toBeUndefined();
  expect(unchanged.headers).toMatchObject({ "x-ratelimit-limit": "60", "x-request-id": "req-0001" });
  expect(unchanged.headers).toMatchObject({ "x-content-type-options": "nosniff" });
});

test.for(errorCodes)(
  "an error of the table that an operation throws becomes the error envelope with its code: %s",
  async (code) => {
    const { statusCode, headers, json } = await ask(async () => {
      throw new ServiceError(code);
    });
    expect(statusCode).toBe(errors[code].status);
    expect([400, 401, 403, 404, 422, 429, 500, 502, 503, 504]).toContain(statusCode);
    expect(errorEnvelope.parse(json())).toEqual({ status: false, message: errors[code].message });
    expect(headers).toEqual({
      "cache-control": "no-store",
      "content-type": "application/json; charset=utf-8",
      ...protecting,
      "x-error-code": code,
      "x-ratelimit-limit": "60",
      "x-ratelimit-remaining": "41",
      "x-request-id": "req-0001",
    });
  },
);

test("the details of an error become `errors`, Retry-After, X-Transaction-Reference and Idempotent-Replayed", async () => {
  const { headers, json } = await ask(async () => {
    throw new ServiceError("validation_failed", {
      fields: { phone_number: ["Was refused by the upstream"] },
      retryAfterS: 7,
      transactionReference: "DATA_1",
      replayed: true,
    });
  });
  expect(json()).toMatchObject({ status: false, errors: { phone_number: ["Was refused by the upstream"] } });
  expect(headers).toMatchObject({
    "retry-after": "7",
    "x-transaction-reference": "DATA_1",
    "idempotent-replayed": "true",
  });
  const first = await ask(async () => {
    throw new ServiceError("delivery_failed", { replayed: false, retryAfterS: 0 });
  });
  expect(first.headers).toMatchObject({ "retry-after": "0" });
  expect(first.headers).not.toHaveProperty("idempotent-replayed");
});

test("every answer to an order names the order's reference once its fields are read: also a refusal, and one in the Idempotency-Key", async () => {
  const order = { network_id: 1, plan_id: 101, phone_number: "08031234567" };
  const named = (run?: Purchase, changes: Parameters<typeof anApiEvent>[0] = {}, admit?: Admit) =>
    purchaseHandler(
      run,
      admit,
    )({ body: JSON.stringify({ ...order, reference: "order-1" }), ...changes }).then(
      ({ headers }) => headers["x-caller-reference"],
    );
  const refuse = async () => {
    throw new ServiceError("insufficient_balance");
  };
  expect(await named()).toBe("order-1");
  expect(await named(refuse)).toBe("order-1");
  expect(await named(refuse, { body: JSON.stringify(order), headers: { "idempotency-key": "order-2" } })).toBe(
    "order-2",
  );
  expect(await named(undefined, { body: JSON.stringify(order) })).toBeUndefined();
  // It may hold the phone number: such a request is refused before.
  expect(await named(undefined, { body: JSON.stringify({ ...order, reference: "for-08031234567" }) })).toBeUndefined();
  const rate = { limit: 60, remaining: 0 };
  expect(await named(undefined, {}, async () => ({ rate, refusal: new ServiceError("rate_limited") }))).toBeUndefined();
});

test("an unknown route is 404 not_found with the unused rate of the catalog group, without a check of the key", async () => {
  const admit = vi.fn(admitted);
  const send = purchaseHandler(bought, admit);
  const { statusCode, headers } = await send({ routeKey: "$default" });
  expect(statusCode).toBe(404);
  expect(headers).toMatchObject({
    "x-error-code": "not_found",
    "x-ratelimit-limit": "120",
    "x-ratelimit-remaining": "120",
    "x-request-id": "req-0001",
  });
  expect(admit).not.toHaveBeenCalled();
});

test("a request without a recognised key is 401 with the unused rate of the route's group", async () => {
  const { statusCode, headers } = await ask(bought, async () => {
    throw new ServiceError("invalid_api_key");
  });
  expect(statusCode).toBe(401);
  expect(headers).toMatchObject({ "x-ratelimit-limit": "60", "x-ratelimit-remaining": "60" });
});

test("a refused request gets the counted rate, and its body is not parsed", async () => {
  const run = vi.fn(bought);
  const send = purchaseHandler(run, async () => ({
    rate: { limit: 60, remaining: 3 },
    refusal: new ServiceError("ip_not_whitelisted", { message: "The IP address 198.51.100.9 is not whitelisted" }),
  }));
  const { statusCode, headers, json } = await send({ body: "{" });
  expect(statusCode).toBe(403);
  expect(json()).toEqual({ status: false, message: "The IP address 198.51.100.9 is not whitelisted" });
  expect(headers).toMatchObject({ "x-error-code": "ip_not_whitelisted", "x-ratelimit-remaining": "3" });
  expect(run).not.toHaveBeenCalled();
});

test("a body that is not JSON is 400 and a wrong field 422, both with the counted rate", async () => {
  const send = purchaseHandler();
  const bad = await send({ body: "{" });
  expect([bad.statusCode, bad.headers["x-error-code"]]).toEqual([400, "invalid_json"]);
  expect(bad.headers["x-ratelimit-remaining"]).toBe("41");
  const wrong = await send({ body: '{"network_id":1,"plan_id":101,"phone_number":"0803"}' });
  expect([wrong.statusCode, wrong.headers["x-error-code"]]).toEqual([422, "validation_failed"]);
  expect(Object.keys(errorEnvelope.parse(wrong.json()).errors ?? {})).toEqual(["phone_number"]);
});

const secret = "08031234567 of Ada";
const thrown: readonly (readonly [string, unknown])[] = [
  ["an Error", new Error(secret)],
  ["a TypeError with a cause", new TypeError(secret, { cause: new Error(secret) })],
  ["a string", secret],
  ["undefined", undefined],
];

/** Reads the wallet: a request that is no order. */
const readWallet = async (run: () => Promise<never>, admit: Admit = admitted) => {
  const { getWallet } = readAccountRoutes;
  const handler = apiHandler({ getWallet }, admit, { getWallet: run });
  const response = responseSchema.parse(
    await handler(anApiEvent({ method: "GET", path: "/v1/wallet" }), aLambdaContext()),
  );
  return { ...response, json: (): unknown => JSON.parse(response.body ?? "") };
};
const linesOf = async (run: () => Promise<unknown>): Promise<string> => {
  const log = captureLog();
  await run();
  expect(log.lines("request.failed")).not.toEqual([]);
  return log.text();
};

test.for(thrown)(
  "an unexpected error (%s) is 500 internal_error, and of an order answered as by the platform, and its message is neither in the response nor in the log",
  async ([, error]) => {
    const run = () => Promise.reject(error);
    const logged = await linesOf(async () => {
      const { statusCode, headers, body } = await readWallet(run);
      expect(statusCode).toBe(500);
      expect(headers).toMatchObject({ "x-error-code": "internal_error", "x-request-id": "req-0001" });
      expect(body).not.toContain("Ada");
    });
    const loggedOfOrder = await linesOf(async () => expect(await ask(run)).toEqual(asByThePlatform));
    expect(loggedOfOrder).toContain("request.outcome_unknown");
    expect(`${logged}${loggedOfOrder}`).not.toContain("Ada");
  },
);

test("an unexpected error of the admission is 500 too, and for an order it is answered as by the platform", async () => {
  captureLog();
  const failing: Admit = async () => {
    throw new Error("DynamoDB is unavailable");
  };
  const { statusCode, headers } = await readWallet(() => Promise.reject(new Error("Is not reached")), failing);
  expect([statusCode, headers["x-error-code"]]).toEqual([500, "internal_error"]);
  expect(await ask(bought, failing)).toEqual(asByThePlatform);
});

test("an unexpected error of an order that the operation reports as internal_error is 500 and an alarm", async () => {
  const logged = await linesOf(async () => {
    const { statusCode, headers } = await ask(async () => {
      throw new ServiceError("internal_error", {}, { cause: new Error(secret) });
    });
    expect([statusCode, headers["x-error-code"]]).toEqual([500, "internal_error"]);
  });
  expect(logged).not.toContain("Ada");
});

test.each([
  ["timed out", Object.assign(new Error("Timeout"), { name: "TimeoutError" })],
  ["was cut off", Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" })],
  ["was throttled", Object.assign(new Error("Rate exceeded"), { name: "ThrottlingException" })],
  ["met a server error", Object.assign(new Error("Internal"), { $metadata: { httpStatusCode: 500 } })],
  ["left out keys of a batch", new UnprocessedKeysError()],
])("a request whose call of AWS %s is answered as if it had failed, and raises no alarm", async (_what, error) => {
  const log = captureLog();
  const asError: Admit = () => Promise.reject(error);
  expect(await ask(bought, asError)).toEqual(asByThePlatform);
  expect(log.lines("request.not_served")).toEqual([expect.objectContaining({ level: "warn", request_id: "req-0001" })]);
  expect(log.lines("request.failed")).toEqual([]);
});

test("a call that AWS refuses is a fault of the service", async () => {
  const log = captureLog();
  const denied = Object.assign(new Error("Denied"), {
    name: "AccessDeniedException",
    $metadata: { httpStatusCode: 400 },
  });
  expect(await ask(bought, () => Promise.reject(denied))).toEqual(asByThePlatform);
  expect(log.lines("request.failed")).toEqual([expect.objectContaining({ error: "AccessDeniedException" })]);
});

test("an operation whose outcome is unknown is answered as by the platform, and raises no alarm", async () => {
  const log = captureLog();
  const response = await ask(async () => {
    throw new OutcomeUnknown("The outcome is unknown");
  });
  expect(response).toEqual(asByThePlatform);
  expect(log.lines()).toEqual([
    expect.objectContaining({ level: "warn", event: "request.outcome_unknown", request_id: "req-0001" }),
  ]);
  expect(log.lines()).not.toEqual([expect.objectContaining({ _aws: expect.anything() })]);
});

test("the 500 of an unknown outcome is the local gateway's own for a failed invocation, with no header of ours", async () => {
  const routes = [{ method: "POST", path: "/v1/vtu/data/purchase", function: "purchase" }] as const;
  const gateway = await openGateway({ port: 0, routes, defaultFunction: "not-found" });
  captureLog();
  const exchangeWith = async (invoke: () => Promise<unknown>) => {
    gateway.serve(invoke);
    const response = await fetch(`${gateway.origin}/v1/vtu/data/purchase`, { method: "POST" });
    const { date, ...headers } = Object.fromEntries(response.headers);
    expect(date).toBeDefined();
    return { status: response.status, headers, body: await response.text() };
  };
  try {
    const unknown = await exchangeWith(() => ask(() => Promise.reject(new OutcomeUnknown("unknown"))));
    expect(unknown).toEqual(await exchangeWith(() => Promise.reject(new Error("The invocation failed"))));
  } finally {
    await gateway.close();
  }
});

test("a request gets nothing from the previous one of the same process", async () => {
  const send = purchaseHandler();
  const first = await send();
  const second = await send({ routeKey: "GET /v1/nothing", requestId: "req-0002" });
  expect([first.headers["x-request-id"], second.headers["x-request-id"]]).toEqual(["req-0001", "req-0002"]);
  expect(second.headers).toMatchObject({ "x-ratelimit-limit": "120", "x-ratelimit-remaining": "120" });
});

test("a request is one log line of at most 400 bytes without body, key or phone number", async () => {
  const log = captureLog();
  await purchaseHandler()({ headers: { authorization: "Bearer live_secret" } });
  expect(Buffer.byteLength(log.text())).toBeLessThanOrEqual(400);
  expect(log.text()).not.toMatch(/live_secret|08031234567/);
  expect(log.lines()).toMatchObject([{ request_id: "req-0001", status: 200, account: "acc_1", mode: "live" }]);
});
