import { randomUUID } from "node:crypto";
import { DeleteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { beforeAll, expect, test } from "vitest";
import { changeWhitelist, createAccount } from "../../../../shared/access/accounts.ts";
import { auditEntry, readAudit, recordAudit, verifyAudit } from "../../../../shared/ledger/audit.ts";
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

test("entries that are written at once form one chain, and a removed or changed one is found", async () => {
  const ledger = operator.ledgerAt();
  const log = `chain-${randomUUID()}`;
  const numbers = Array.from({ length: 8 }, (_, index) => index);
  await Promise.all(
    numbers.map((amount) => recordAudit(ledger, { audit_log: log, by: "ada", action: "test", details: { amount } })),
  );
  expect(await verifyAudit(ledger, log)).toEqual({ count: 8, problems: [] });
  const [first, second] = await readAudit(ledger, log);
  await ledger.db.send(new DeleteCommand({ TableName: ledger.table, Key: { pk: first?.pk } }));
  await ledger.db.send(
    new UpdateCommand({
      TableName: ledger.table,
      Key: { pk: second?.pk },
      UpdateExpression: "SET #by = :eve",
      ExpressionAttributeNames: { "#by": "by" },
      ExpressionAttributeValues: { ":eve": "eve" },
    }),
  );
  const { problems } = await verifyAudit(ledger, log);
  expect(problems.map(({ kind }) => kind).toSorted()).toEqual(["changed", "removed"]);
});
