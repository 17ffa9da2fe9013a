import { expect, test } from "vitest";
import { purchaseResponse } from "../../../../shared/purchase/purchase-response.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";

test.each([
  ["success", "The purchase was delivered"],
  ["processing", "The purchase is being processed"],
] as const)("the response to a purchase that is %s says: %s", (status, message) => {
  const transaction = aTransaction({ status });
  expect(purchaseResponse({ transaction, replayed: true })).toMatchObject({
    message,
    data: { transaction: { status } },
  });
});
