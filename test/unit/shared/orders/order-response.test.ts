import { expect, test } from "vitest";
import { failureError, orderHeaders } from "../../../../shared/orders/order-response.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";

const REFUNDED = /the amount was refunded. Another attempt needs a new reference$/;

const errorOf = (failure: NonNullable<ReturnType<typeof aTransaction>["failure"]> | undefined, replayed = false) =>
  failureError(aTransaction({ status: "failed", failure }), replayed);

test.each([
  ["delivery_failed", undefined],
  ["delivery_failed", { code: "provider_unavailable" }],
  ["delivery_failed", { code: "delivery_failed" }],
  ["provider_timeout", { code: "provider_timeout" }],
  ["record_not_found", { code: "record_not_found" }],
] as const)("a failed transaction is %s, without fields, where its stored failure is %j", (code, failure) => {
  const error = errorOf(failure);
  expect(error.code).toBe(code);
  expect(error.message).toMatch(REFUNDED);
  expect(error.details).not.toHaveProperty("fields");
});

test.each(["validation_failed", "plan_unavailable"] as const)(
  "a failed transaction with %s says that the amount was refunded, and names the refused fields",
  (code) => {
    const error = errorOf({ code, fields: ["plan_id", "phone_number"] });
    expect(error.code).toBe(code);
    expect(error.message).toMatch(REFUNDED);
    expect(error.details.fields).toEqual({
      plan_id: ["Was refused by the upstream"],
      phone_number: ["Was refused by the upstream"],
    });
  },
);

test("the error of a failed transaction has its reference, and says whether it is a replay", () => {
  const transaction = aTransaction({ status: "failed" });
  const { "x-transaction-reference": reference } = orderHeaders({ transaction, replayed: true });
  expect(failureError(transaction, true).details).toMatchObject({ transactionReference: reference, replayed: true });
  expect(failureError(transaction, false).details).toMatchObject({ transactionReference: reference, replayed: false });
});

test("only the headers of a replay say that it is one", () => {
  const transaction = aTransaction({});
  expect(orderHeaders({ transaction, replayed: true })).toMatchObject({ "idempotent-replayed": "true" });
  const first = { transaction, replayed: false } as const;
  expect(Object.keys(orderHeaders(first))).toEqual(["x-transaction-reference"]);
  expect(orderHeaders({ ...first, estimatedS: 12 })).toMatchObject({ "x-estimated-delivery": "12" });
});
