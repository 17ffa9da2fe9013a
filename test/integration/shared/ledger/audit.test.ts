import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { changeWhitelist, createAccount } from "../../../../shared/access/accounts.ts";
import { auditEntry, readAudit, recordAudit } from "../../../../shared/ledger/audit.ts";
import { NOON_MS } from "../../../builders/noon.ts";
import { decision, type OperatorLedger, openOperatorLedger } from "../../../builders/operator-ledger.ts";

let operator: OperatorLedger;
beforeAll(async () => {
  operator = await openOperatorLedger();
});

test("a change of an account has an audit entry; one without effect, or refused, has none", async () => {
  const { account_id } = await createAccount(operator.storeAt(), { name: "test", whitelist: [] });
  const store = {
    ...operator.storeAt(),
    audit: () => auditEntry({ audit_log: account_id, action: "ips allow", ...decision }, NOON_MS),
  };
  await changeWhitelist(store, account_id, () => ["203.0.113.7"]);
  await changeWhitelist(store, account_id, () => undefined);
  await expect(changeWhitelist(store, account_id, () => ["nonsense"])).rejects.toThrow(/no IP address/);
  expect(await readAudit(operator.ledgerAt(), account_id)).toMatchObject([
    { action: "ips allow", by: "ada", why: "ticket 88" },
  ]);
});

test("an action outside the ledger has an audit entry of its own, without a reason if none was given", async () => {
  const subject = `catalog-${randomUUID()}`;
  await recordAudit(operator.ledgerAt(), {
    audit_log: subject,
    by: "ada",
    action: "catalog accept",
    details: { plans: 30 },
  });
  const [entry, ...others] = await readAudit(operator.ledgerAt(), subject);
  expect(entry).toMatchObject({ by: "ada", action: "catalog accept", details: { plans: 30 } });
  expect(entry).not.toHaveProperty("why");
  expect(others).toEqual([]);
});
