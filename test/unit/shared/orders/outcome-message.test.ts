import { expect, test } from "vitest";
import { namesInOutcome, type OutcomeMessage } from "../../../../shared/orders/outcome-message.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";

const id = "0123456789ABCDEFGHJKMNPQRS";
const target = { mode: "live", transaction_pk: `transaction#${id}`, write_token: "token" } as const;
const event = { mode: "live", received_at: "2026-11-30T12:00:00Z", status: "failed" } as const;

test.each<[OutcomeMessage, object]>([
  [{ kind: "settlement", ...target, settlement: { status: "success" } }, { transaction: id }],
  [{ kind: "void", item: aTransaction() }, { transaction: id }],
  [{ kind: "answer", finding: "not_found", ...target, reference: "UP-1" }, { transaction: id }],
  [{ kind: "event", ...event, reference: "UP-1" }, { upstream_reference: "UP-1" }],
  [
    { kind: "unreadable_event", mode: "live", digest: "d", problem: "status reversed", reference: "UP-1" },
    { upstream_reference: "UP-1" },
  ],
  [{ kind: "event", ...event, reference: "UP-08031234567-1" }, { upstream_reference: "UP-*********67-1" }],
])("the lines of the message %j name the transaction or the upstream's reference", (message, names) => {
  expect(namesInOutcome(message)).toEqual(names);
});
