import type { AccountEventName } from "../../shared/contract/webhook-events.ts";
import { auditEntry, auditPut } from "../../shared/ledger/audit.ts";
import type { AuditedLedger } from "../../shared/ledger/ledger.ts";
import { setSubscribedEvents } from "../../shared/webhooks/subscription.ts";

/** Makes these the events of an account beside `transaction.updated`, as an operator does. */
export const subscribe = (
  ledger: AuditedLedger,
  accountId: string,
  events: readonly AccountEventName[],
): Promise<void> => {
  const audit = auditEntry({ audit_log: accountId, by: "ada", action: "webhook events" }, ledger.clock());
  return setSubscribedEvents(ledger, accountId, events, auditPut(ledger, audit));
};
