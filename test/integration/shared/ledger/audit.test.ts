import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { changeWhitelist, createAccount } from "../../../../shared/access/accounts.ts";
import {
  auditEntry,
  auditPut,
  readAudit,
  readAuditAbout,
  readAuditPage,
  recordAudit,
  verifyAudit,
} from "../../../../shared/ledger/audit.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
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
    audit: () =>
      auditPut(operator.ledgerAt(), auditEntry({ audit_log: account_id, action: "ips allow", ...decision }, NOON_MS)),
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

test("entries that are written at once form one chain, which nothing removes or changes unseen", async () => {
  const ledger = operator.ledgerAt();
  const log = `chain-${randomUUID()}`;
  const numbers = Array.from({ length: 8 }, (_, index) => index);
  await Promise.all(
    numbers.map((amount) => recordAudit(ledger, { audit_log: log, by: "ada", action: "test", details: { amount } })),
  );
  expect(await verifyAudit(ledger, log)).toEqual({ count: 8, before: 0, problems: [] });
  const [first, second] = await readAudit(ledger, log);
  const keyOf = (of: typeof first) => ({ TableName: ledger.auditTable, Key: { pk: of?.pk, sequence: of?.sequence } });
  await ledger.db.delete(keyOf(first));
  await ledger.db.update({
    ...keyOf(second),
    UpdateExpression: "SET #by = :eve",
    ExpressionAttributeNames: { "#by": "by" },
    ExpressionAttributeValues: { ":eve": "eve" },
  });
  const { problems } = await verifyAudit(ledger, log);
  expect(problems.map(({ kind }) => kind)).toEqual(["gap", "changed"]);
});

test("entries are read by pages, newest first, and those about an item until its time", async () => {
  const log = `pages-${randomUUID()}`;
  for (let second = 0; second < 52; second += 1) {
    const about = second % 2 === 0 ? "transaction#even" : "transaction#odd";
    const at = operator.ledgerAt(NOON_MS + second * 60_000);
    await recordAudit(at, { audit_log: log, by: "ada", action: "test", about, details: { second } });
  }
  const ledger = operator.ledgerAt();
  const page = async (cursor?: string) => {
    const found = await readAuditPage(ledger, { auditLog: log }, cursor);
    if (found === "no_cursor") throw new Error("The cursor was refused");
    return { next: found.next, seconds: found.entries.map(({ details }) => details.second) };
  };
  const first = await page();
  expect([first.seconds.length, first.seconds[0], first.seconds.at(-1)]).toEqual([50, 51, 2]);
  expect(await page(first.next)).toEqual({ next: undefined, seconds: [1, 0] });
  expect(await readAuditPage(ledger, { auditLog: log }, "bm9uZQ")).toBe("no_cursor");
  // Five minutes earlier, because the clocks of two writers differ.
  const from = isoTime(NOON_MS + 46 * 60_000);
  const about = await readAuditAbout(ledger, log, "transaction#odd", from);
  expect(about.map(({ details }) => details.second)).toEqual([41, 43, 45, 47, 49, 51]);
});
