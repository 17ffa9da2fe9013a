import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { consentsRuns } from "../../../../shared/actions/consents.ts";
import { DAY_MS } from "../../../../shared/contract/values/durations.ts";
import { verifyExport } from "../../../../shared/identity/consent-export.ts";
import { readAudit } from "../../../../shared/ledger/audit.ts";
import { consentPk } from "../../../../shared/ledger/schema.ts";
import { referenceOf, type Transaction } from "../../../../shared/ledger/transaction.ts";
import { NotFoundError } from "../../../../shared/platform/operator-error.ts";
import { pagesOf } from "../../../../shared/platform/pages.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { beforeEachCall } from "../../../builders/dynamodb/before-each-call.ts";
import { putItems } from "../../../builders/dynamodb/put-items.ts";
import { anActionContext, anOwnersRequest } from "../../../builders/ledger/action-context.ts";
import { openOperatorLedger } from "../../../builders/ledger/operator-ledger.ts";
import { putTransactions } from "../../../builders/ledger/put-transactions.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { aTransactionPk } from "../../../builders/upstream/event-message.ts";

const operator = await openOperatorLedger();

const context = (nowMs = NOON_MS) => anActionContext(operator.tables, { clock: () => nowMs });
const timeOf = (index: number): string => isoTime(NOON_MS - DAY_MS + index * 1_000);

const SUBJECT = "hash-of-a-person";

/** Makes checks of orders: each gets a consent. */
const addConsents = async (transactions: readonly Transaction[]): Promise<void> => {
  const { db, table } = operator.ledgerAt();
  const consents = transactions.map(({ pk, account_id, key_id, created_at }, index) => ({
    pk: consentPk({ pk }),
    account_id,
    key_id,
    mode: "live",
    subject: SUBJECT,
    subject_key: "mrk-1",
    operation: "nin_verification",
    extent: "basic",
    ...(index % 2 === 0 && { purpose: "loan" }),
    request_id: randomUUID(),
    created_at,
  }));
  await putItems(db, table, consents);
};

/** An account with this many purchases, of which every third one is a check instead, oldest first. */
const anAccountWithChecks = async (count: number) => {
  const { accountId: account } = await operator.anAccount();
  const transactions = await putTransactions(operator.ledgerAt(), account, count, timeOf);
  const checks = transactions
    .filter((_, index) => index % 3 === 0)
    .map((each) => ({ ...each, type: "nin_verification" as const }));
  for (const Item of checks.slice(0, 3)) {
    await operator.ledgerAt().db.put({ TableName: operator.ledgerAt().table, Item });
  }
  await addConsents(checks);
  return { account, references: checks.map(referenceOf) };
};

/** The lines of each page of an export, from the first one. */
const exported = async (account: string, period: { readonly from?: string; readonly to?: string } = {}) => {
  const read = (cursor?: string) => consentsRuns["consents export"](context(), { account, ...period, cursor });
  return (await Array.fromAsync(pagesOf(read))).map(({ lines }) => lines);
};

/** The entries of exports, that of the first page before that of the last one: they have the same time. */
const exportsOf = async (account: string) =>
  (await readAudit(operator.ledgerAt(), account))
    .filter(({ action }) => action === "consents export")
    .toSorted((one, other) => Number("hash" in one.details) - Number("hash" in other.details));

describe("consents list", () => {
  test("lists the consents of one account, newest first, without the subject", async () => {
    const { account, references } = await anAccountWithChecks(30);
    const { consents, next_cursor } = await consentsRuns["consents list"](context(), { account, mode: "live" });
    expect(consents.map(({ reference }) => reference)).toEqual(references.toReversed());
    expect(next_cursor).toBeNull();
    expect(consents.at(-1)).toMatchObject({ account_id: account, operation: "nin_verification", purpose: "loan" });
    expect(JSON.stringify(consents)).not.toContain(SUBJECT);
    const test = await consentsRuns["consents list"](context(), { account, mode: "test" });
    expect(test.consents).toEqual([]);
  });

  test("goes on in pages, past purchases that have none", async () => {
    const { accountId: account } = await operator.anAccount();
    const transactions = await putTransactions(operator.ledgerAt(), account, 700, timeOf);
    const checks = transactions.slice(0, 2);
    await addConsents(checks);
    const first = await consentsRuns["consents list"](context(), { account, mode: "live" });
    expect(first.consents.map(({ created_at }) => created_at)).toEqual([timeOf(1), timeOf(0)]);
    await addConsents(transactions.slice(-600));
    const newest = await consentsRuns["consents list"](context(), { account, mode: "live" });
    expect(newest.consents).toHaveLength(500);
    const cursor = newest.next_cursor ?? "";
    const others = await consentsRuns["consents list"](context(), { account, mode: "live", cursor });
    expect(others.consents).toHaveLength(102);
  });
});

test("consents show shows a check of the account, and neither a purchase nor another account's check", async () => {
  const { account, references } = await anAccountWithChecks(3);
  const [reference = ""] = references;
  expect(await consentsRuns["consents show"](context(), { account, reference })).toMatchObject({ reference });
  const { accountId: other, transaction } = await operator.anOrder({ pk: await aTransactionPk() });
  for (const each of [reference, referenceOf(transaction)]) {
    const shown = consentsRuns["consents show"](context(), { account: other, reference: each });
    await expect(shown).rejects.toThrow(NotFoundError);
  }
});

describe("consents export", () => {
  /** An account whose export has two pages: a page reads 2,000 purchases. */
  let large = "";
  beforeAll(async () => {
    large = (await anAccountWithChecks(2_010)).account;
  });

  test("is a whole chain of the account's consents, oldest first, whose count and last hash are in the audit log", async () => {
    const { account, references } = await anAccountWithChecks(60);
    const text = (await exported(account)).flat().join("\n");
    const verified = verifyExport(text);
    if (!verified.isWhole) throw new Error(`line ${verified.line}: ${verified.problem}`);
    expect(verified.end.count).toBe(references.length);
    expect([...text.matchAll(/"reference":"(\w+)"/g)].map(([, reference]) => reference)).toEqual(references);
    expect(text).not.toContain(SUBJECT);
    expect(await exportsOf(account)).toMatchObject([
      { by: "ada", details: { to: verified.header.to } },
      { by: "ada", details: { count: references.length, hash: verified.end.hash, to: verified.header.to } },
    ]);
  });

  test("continues over pages, and two exports of one period have the same consents", async () => {
    const pages = await exported(large);
    expect(pages).toHaveLength(2);
    expect(verifyExport(pages.flat().join("\n"))).toMatchObject({ isWhole: true, end: { count: 670 } });
    expect((await exportsOf(large)).map(({ details }) => details.count)).toEqual([undefined, 670]);
    const period = { from: timeOf(3), to: timeOf(9) };
    const [again] = await exported(large, period);
    expect(verifyExport((again ?? []).join("\n"))).toMatchObject({ header: period, end: { count: 3 } });
  });

  test("leaves out what may not be in the index yet, and says until when it is whole", async () => {
    const { accountId: account } = await operator.anAccount();
    const [old, recent] = await putTransactions(operator.ledgerAt(), account, 2, (index) =>
      isoTime(NOON_MS - (index === 0 ? 121_000 : 119_000)),
    );
    if (old === undefined || recent === undefined) throw new Error("There are no orders");
    await addConsents([old, recent]);
    const verified = verifyExport((await exported(account)).flat().join("\n"));
    expect(verified).toMatchObject({ header: { to: isoTime(NOON_MS - 120_000) }, end: { count: 1 } });
    await expect(exported(account, { from: isoTime(NOON_MS) })).rejects.toThrow("the period begins later");
  });

  test("a cursor that was changed, or is another account's, is refused, and the audit log has the first page only", async () => {
    const earlier = await exportsOf(large);
    const { next_cursor } = await consentsRuns["consents export"](context(), { account: large });
    const position = JSON.parse(Buffer.from(next_cursor ?? "", "base64url").toString("utf8"));
    position.position.end.hash = "0".repeat(64);
    const forged = Buffer.from(JSON.stringify(position)).toString("base64url");
    const { accountId: other } = await operator.anAccount();
    const cursors: [string, string][] = [
      [large, forged],
      [large, "x"],
      [other, next_cursor ?? ""],
    ];
    for (const [from, cursor] of cursors) {
      const refused = consentsRuns["consents export"](context(), { account: from, cursor });
      await expect(refused).rejects.toThrow("The cursor is not of this export");
    }
    const later = await exportsOf(large);
    const ended = (entries: typeof later) => entries.filter(({ details }) => "count" in details).length;
    expect([later.length, ended(later)]).toEqual([earlier.length + 1, ended(earlier)]);
    expect(await exportsOf(other)).toEqual([]);
  });

  test("who did not begin an export takes no cursor of who did: only its beginning and its end are on record", async () => {
    const as = (identity: string, cursor?: string) =>
      consentsRuns["consents export"]({ ...context(), ...anOwnersRequest({ identity }) }, { account: large, cursor });
    const { next_cursor } = await as("ada");
    await expect(as("eve", next_cursor ?? "")).rejects.toThrow("The cursor is not of this export");
    expect(await as("ada", next_cursor ?? "")).toMatchObject({ lines: expect.arrayContaining([expect.any(String)]) });
  });

  test("an export of which an audit entry, of its begin or its end, cannot be written shows no consent", async () => {
    const { account } = await anAccountWithChecks(3);
    const { db } = operator.tables;
    for (const [failing, entries] of [
      [1, 0],
      [2, 1],
    ] as const) {
      let writes = 0;
      const write = beforeEachCall(db, "transactWrite", () => {
        writes += 1;
        if (writes === failing) throw new Error("no answer");
      });
      await expect(exported(account)).rejects.toThrow("no answer");
      write.mockRestore();
      expect(await exportsOf(account)).toHaveLength(entries);
    }
  });
});
