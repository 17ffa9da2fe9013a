import { expect, test } from "vitest";
import { stepsOf } from "../../../../shared/actions/transaction-history.ts";
import type { AuditEntry } from "../../../../shared/ledger/audit.ts";
import type { Transaction } from "../../../../shared/ledger/transaction.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { newDelivery } from "../../../../shared/webhooks/delivery.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

const at = (minute: number): string => isoTime(NOON_MS + minute * 60_000);

test("each step of an order is said in words, with the codes that an app's developers look up", () => {
  const transaction = aTransaction({
    ...{ status: "failed", created_at: at(0), updated_at: at(1), account_id: "acc_1" },
    failure: { code: "delivery_failed" },
  });
  const message = { event: "transaction.updated", transaction_pk: transaction.pk, status: "failed" } as const;
  const to = (endpoint: string, minute: number) =>
    newDelivery(
      { ...message, endpoint },
      { accountId: "acc_1", webhookId: `evt_${endpoint}` },
      NOON_MS + minute * 60_000,
    );
  const attempt = (number: number, outcome: string, http_status?: number) => ({
    ...{ number, outcome, at: at(2 + number), duration_ms: 5, ...(http_status !== undefined && { http_status }) },
  });
  const resolved: AuditEntry = {
    ...{ pk: "acc_1", list_key: "entries", created_at: at(9), by: "ada@example.com", action: "events match" },
    person: { issuer: "https://login.example.com/", sub: "ada" },
    ...{ why: "ticket 8", details: { reference: "DATA_1", event: "event_1", says: "failed" } },
  };
  const steps = stepsOf(
    {
      transaction,
      lookup: { asked_at: at(2), asked: 1, finding: "not_found", details: "status 404" },
      events: [
        {
          ...{
            pk: "event#1",
            list_key: "events",
            state: "open",
            created_at: at(7),
            updated_at: at(7),
            reference: "U-1",
          },
          ...{ reason: "contradiction", says: "success" },
        },
      ],
      deliveries: [
        {
          ...to("1", 3),
          attempts: [attempt(1, "status", 503), attempt(2, "ECONNREFUSED"), attempt(3, "delivered", 200)],
        },
        { ...to("2", 6), state: "switched_off", repeat: "replay_1" },
      ],
      audit: [resolved],
      names: new Map([
        ["key_1", "Till 4"],
        ["1", "Bookkeeping"],
      ]),
    },
    false,
  );
  expect(steps.map(({ what, details }) => `${what}: ${details}`)).toEqual([
    'Debited: NGN 500.00, key "Till 4" (key_1)',
    "Failed: error code delivery_failed",
    "Upstream asked: attempt 1: The upstream does not know it. It may still be on its way (status 404)",
    'Webhook: evt_1 to "Bookkeeping", attempt 1: HTTP 503',
    'Webhook: evt_1 to "Bookkeeping", attempt 2: Connection refused (ECONNREFUSED)',
    'Webhook: evt_1 to "Bookkeeping", attempt 3: Delivered, HTTP 200',
    "Webhook: evt_2, sent again, to endpoint 2: Stopped: endpoint disabled",
    "Upstream event: event_1: success. It contradicts the final status of its order. Waits for a decision",
    'Event matched: ada@example.com settled the order DATA_1 as failed, by the event event_1, "ticket 8"',
  ]);
});

test("an order that waits says since when, one that was sent for how long it waited, and one that never was why", () => {
  const stepsWith = (changes: Partial<Transaction>) => {
    const transaction = aTransaction({ status: "processing", created_at: at(0), ...changes });
    return stepsOf({ transaction, lookup: null, events: [], deliveries: [], audit: [], names: new Map() }, false).slice(
      1,
    );
  };
  const queued = { order: { kind: "airtime", network: "mtn" }, table: "ledger", number: 1 } as const;
  expect(stepsWith({ updated_at: at(1), queued })).toEqual([{ at: at(1), what: "Waits since", details: "" }]);
  expect(stepsWith({ updated_at: at(3), sent_at: at(3) })).toEqual([
    { at: at(3), what: "Sent", details: "after a wait of 3 min" },
  ]);
  const failure = { code: "provider_unavailable", cause: "upstream_changed" } as const;
  expect(stepsWith({ status: "failed", updated_at: at(4), failure })).toEqual([
    {
      ...{ at: at(4), what: "Failed" },
      details: "error code provider_unavailable, the service got another upstream while it waited",
    },
  ]);
});
