import { expect, test } from "vitest";
import { auditEntry, detailsText } from "../../../../shared/ledger/audit.ts";

test("the details of an audit entry are sorted by name, whatever their order in the table", () => {
  expect(detailsText({ name: "x", amount: 5, id: "GTB-1" })).toBe("amount=5 id=GTB-1 name=x");
});

test("an audit entry has the reason without phone numbers, because nobody can remove one from it", () => {
  const resolved = { audit_log: "acc_1", by: "ada", action: "transactions resolve" };
  const entry = auditEntry({ ...resolved, why: "0803 123 4567 called, upstream reference 20261130093012" }, 0);
  expect(entry.why).toBe("**** *** **67 called, upstream reference 20261130093012");
  expect(auditEntry(resolved, 0).why).toBeUndefined();
});
