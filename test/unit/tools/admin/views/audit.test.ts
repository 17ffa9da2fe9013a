import { expect, test } from "vitest";
import { auditView } from "../../../../../shared/actions/audit.ts";
import { timeIn } from "../../../../../shared/contract/values/time-zone.ts";
import { auditEntry } from "../../../../../shared/ledger/audit.ts";
import { auditTable } from "../../../../../tools/admin/views/audit.ts";
import { NOON_MS } from "../../../../builders/run/noon.ts";

const byOperator = auditView(
  auditEntry({ audit_log: "acc_1", by: "ada", action: "keys revoke", why: "lost" }, NOON_MS),
  "shop",
);
const byPerson = auditView(
  auditEntry(
    {
      audit_log: "acc_1",
      by: "bola@example.com",
      person: { issuer: "https://login.example.com/", sub: "person-1" },
      action: "keys create",
    },
    NOON_MS,
  ),
  "shop",
);

test("an audit log without console entries has no column for the person's subject", () => {
  expect(auditTable([byOperator], "Africa/Lagos")).not.toContain("CONSOLE SUBJECT");
});

test("a name that was given at the command line is marked in the audit log, and the name of a person who signed in is not", () => {
  const text = auditTable([byOperator, byPerson], "Africa/Lagos");
  expect(text).toContain("Command line (says: ada)");
  expect(text).not.toContain("says: bola@example.com");
});

test("the subject of the person who signed in to the console stands beside the name", () => {
  const text = auditTable([byOperator, byPerson], "Africa/Lagos");
  expect(text).toContain("CONSOLE SUBJECT");
  expect(text).toContain(timeIn(NOON_MS, "Africa/Lagos"));
  expect(text).toMatch(/bola@example\.com.*person-1/);
});
