import { describe, expect, test } from "vitest";
import { ServiceError } from "../../../../shared/contract/errors.ts";
import { errorResponse, successResponse } from "../../../../shared/lambda/api-response.ts";

/** A cache could give a stored answer to another request. */
const json = {
  "content-type": "application/json; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": "object-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  "strict-transport-security": "max-age=31536000",
  "x-content-type-options": "nosniff",
};

test("a success response is 200 with the success envelope and the operation's headers", () => {
  expect(successResponse({ message: "Wallet", data: { balance: 1 }, headers: { "x-test": "1" } })).toEqual({
    statusCode: 200,
    headers: { ...json, "x-test": "1" },
    body: '{"status":true,"message":"Wallet","data":{"balance":1}}',
  });
});

describe("an error response", () => {
  test("an error response without details has the error envelope and X-Error-Code only", () => {
    expect(errorResponse(new ServiceError("rate_limited"))).toEqual({
      statusCode: 429,
      headers: { ...json, "x-error-code": "rate_limited" },
      body: '{"status":false,"message":"Too many requests: wait before sending another"}',
    });
  });

  test("an error response that is no replay does not carry Idempotent-Replayed", () => {
    const { headers } = errorResponse(new ServiceError("delivery_failed", { replayed: false, retryAfterS: 0 }));
    expect(headers["idempotent-replayed"]).toBeUndefined();
    expect(headers["retry-after"]).toBe("0");
  });
});
