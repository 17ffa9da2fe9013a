import { expect, test } from "vitest";
import { koboSchema } from "../../../../shared/contract/values/money.ts";
import { testEventBody, webhookBody } from "../../../../shared/webhooks/webhook-body.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";

test("the body has the fields of the interface, and the same bytes whatever else changes on the transaction", () => {
  const transaction = aTransaction({ status: "failed", amount_kobo: koboSchema.parse(500_50) });
  expect(webhookBody(transaction, "failed")).toBe(
    '{"event":"transaction.updated","data":{"reference":"DATA_0123456789ABCDEFGHJKMNPQRS","status":"failed","amount":500.5,' +
      '"type":"data","network":"MTN","phone_number":"08031234567","created_at":"2026-11-21T09:30:00.000Z"}}',
  );
  expect(
    webhookBody({ ...transaction, updated_at: "2026-11-22T00:00:00.000Z", upstream_reference: "up-1" }, "failed"),
  ).toBe(webhookBody(transaction, "failed"));
});

test("the network and the phone number of an identity check are empty strings", () => {
  const { network: _network, phone_number: _phone, ...transaction } = aTransaction({ type: "nin_verification" });
  expect(JSON.parse(webhookBody(transaction, "success")).data).toMatchObject({
    reference: "VERIFY_0123456789ABCDEFGHJKMNPQRS",
    type: "nin_verification",
    network: "",
    phone_number: "",
  });
});

test("a test event is about an account and no order", () => {
  expect(testEventBody("acc_1", "2026-11-21T09:30:00.000Z")).toBe(
    '{"event":"webhook.test","data":{"account_id":"acc_1","created_at":"2026-11-21T09:30:00.000Z"}}',
  );
});
