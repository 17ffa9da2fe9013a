import { randomUUID } from "node:crypto";
import { afterEach, expect, test, vi } from "vitest";
import * as z from "#zod";
import { changeWhitelist, createAccount } from "../../../../shared/access/accounts.ts";
import {
  auditEntry,
  auditPut,
  readAudit,
  readAuditAbout,
  readAuditPage,
  readTransactionAudit,
  recordAudit,
  SERVICE,
  verifyAudit,
} from "../../../../shared/ledger/audit.ts";
import { linkEntry, readAllEntries, readNewestFirst } from "../../../../shared/ledger/audit-chain.ts";
import { attestationsPk, entriesPk, sequenceKey } from "../../../../shared/ledger/schema.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { hideFromIndex } from "../../../builders/dynamodb/hide-from-index.ts";
import { putItems } from "../../../builders/dynamodb/put-items.ts";
import { decision, openOperatorLedger } from "../../../builders/ledger/operator-ledger.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

const operator = await openOperatorLedger();
afterEach(() => {
  vi.restoreAllMocks();
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

test("an action outside the ledger has an audit entry of its own, which has what is known of the person", async () => {
  const subject = `catalog-${randomUUID()}`;
  const action = { audit_log: subject, by: "ada", action: "catalog accept", details: { plans: 30 } };
  const known = {
    ...{ caller_arn: "arn:aws:iam::1:user/ada", person: { issuer: "https://login.example.com", sub: "1" } },
    ...{ source_ip: "203.0.113.7", user_agent: "Firefox", about: "transaction#1", why: "ticket 88" },
  };
  await recordAudit(operator.ledgerAt(), action);
  await recordAudit(operator.ledgerAt(), { ...action, ...known, proposal: "prop_1" });
  const [bare, full, ...others] = await readAudit(operator.ledgerAt(), subject);
  expect(bare).toMatchObject({ by: "ada", action: "catalog accept", details: { plans: 30 } });
  for (const name of Object.keys(known)) expect(bare).not.toHaveProperty(name);
  expect(bare?.details).not.toHaveProperty("proposal");
  expect(full).toMatchObject({ ...known, details: { plans: 30, proposal: "prop_1" } });
  expect(others).toEqual([]);
});

test("the entries about a transaction are those of its account and of the service, oldest first", async () => {
  const transaction = {
    pk: `transaction#${randomUUID()}`,
    account_id: `acc_${randomUUID()}`,
    created_at: isoTime(NOON_MS),
  };
  const record = (seconds: number, audit_log: string, action: string, about = transaction.pk) =>
    recordAudit(operator.ledgerAt(NOON_MS + seconds * 1_000), { audit_log, about, by: "ada", action });
  await record(0, SERVICE, "events discard");
  await record(1, transaction.account_id, "transactions resolve");
  await record(1, SERVICE, "events discard");
  await record(3, SERVICE, "events discard", "transaction#other");
  const entries = await readTransactionAudit(operator.ledgerAt(), transaction);
  expect(entries.map(({ pk, created_at }) => [pk, created_at])).toEqual([
    [entriesPk(SERVICE), isoTime(NOON_MS)],
    [entriesPk(transaction.account_id), isoTime(NOON_MS + 1_000)],
    [entriesPk(SERVICE), isoTime(NOON_MS + 1_000)],
  ]);
});

test("entries that are written at once form one chain, which nothing removes or changes unseen", async () => {
  const ledger = operator.ledgerAt();
  const log = `chain-${randomUUID()}`;
  const numbers = Array.from({ length: 8 }, (_, index) => index);
  await Promise.all(
    numbers.map((amount) => recordAudit(ledger, { audit_log: log, by: "ada", action: "test", details: { amount } })),
  );
  const query = vi.spyOn(ledger.db, "query");
  const verified = { count: 8, before: 0, problems: [] };
  expect(await verifyAudit(ledger, log)).toEqual(verified);
  expect(query).toHaveBeenCalledTimes(2);
  const copy = { entries: [], beganAt: isoTime(NOON_MS + 1), readAtMs: NOON_MS };
  expect(await verifyAudit(ledger, log, copy)).toEqual({ ...verified, before: 8 });
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

test.each([
  ["before its entries are read", 1, 2],
  ["after their end was read", 4, 1],
])(
  "an entry that is written and attested while its log is verified, %s, is no problem",
  async (_, afterQuery, count) => {
    const ledger = operator.ledgerAt();
    const log = `young-${randomUUID()}`;
    const attest = async (): Promise<void> => {
      await recordAudit(ledger, { audit_log: log, by: "ada", action: "test" });
      const { sequence, hash } = z
        .looseObject({ sequence: z.string(), hash: z.string() })
        .parse((await Array.fromAsync(readAllEntries({ db: ledger.db, table: ledger.auditTable }, log))).at(-1));
      await ledger.db.put({ TableName: ledger.auditTable, Item: { pk: attestationsPk(log), sequence, hash } });
    };
    await attest();
    const query = ledger.db.query.bind(ledger.db);
    let queries = 0;
    vi.spyOn(ledger.db, "query").mockImplementation(async (input) => {
      queries += 1;
      // The place until which attestations are read, the first of them, the entry, and that there is no other one.
      const page = await query({ ...input, Limit: 1 });
      if (queries === afterQuery) await attest();
      return page;
    });
    expect(await verifyAudit(ledger, log)).toEqual({ count, before: 0, problems: [] });
  },
);

test("an entry is missed among the copies only if it was to be there when they were read, however late its log is", async () => {
  const log = `copied-${randomUUID()}`;
  await recordAudit(operator.ledgerAt(), { audit_log: log, by: "ada", action: "test" });
  const later = operator.ledgerAt(NOON_MS + 60 * 60_000);
  const problemsAt = async (readAtMs: number) => {
    const copy = { entries: [], beganAt: isoTime(NOON_MS - 1), readAtMs };
    const { problems } = await verifyAudit(later, log, copy);
    return problems.map(({ kind }) => kind).filter((kind) => kind === "not_copied");
  };
  expect(await problemsAt(NOON_MS - 1)).toEqual([]);
  expect(await problemsAt(NOON_MS + 15 * 60_000)).toEqual(["not_copied"]);
});

test("the next entry follows the attested hash of the last one, and no item without a place or hash, or behind a gap, stops it", async () => {
  const ledger = operator.ledgerAt();
  const log = `attested-${randomUUID()}`;
  const record = () => recordAudit(ledger, { audit_log: log, by: "ada", action: "test" });
  const put = (Item: object) => ledger.db.put({ TableName: ledger.auditTable, Item });
  await record();
  await record();
  const hash = "h".repeat(43);
  await put({ pk: attestationsPk(log), sequence: sequenceKey(2), hash });
  await put({ pk: attestationsPk(log), sequence: `${sequenceKey(2)}.5`, hash: "" });
  await record();
  const [entry] = await readAudit(ledger, log);
  for (const sequence of [`${sequenceKey(2)}.5`, sequenceKey(9)]) await put({ ...entry, sequence });
  const query = vi.spyOn(ledger.db, "query");
  await record();
  // Of the attestations the newest ones, one by one.
  expect(query.mock.calls.map(([{ Limit }]) => Limit)).toEqual([1, 1, undefined]);
  const pk = entriesPk(log);
  await put({ pk, sequence: sequenceKey(5), hash: "h".repeat(44) });
  await record();
  const table = { db: ledger.db, table: ledger.auditTable };
  const linksAt = async () =>
    new Map(
      (await Array.fromAsync(readNewestFirst(table, pk))).map(({ sequence, ...link }) => [Number(sequence), link]),
    );
  const links = await linksAt();
  expect([...links.keys()]).toEqual([9, 6, 5, 4, 3, 2.5, 2, 1]);
  expect(await readAudit(ledger, log)).toHaveLength(6);
  expect(links.get(3)).toMatchObject({ previous: hash });
  expect(links.get(4)).toMatchObject({ previous: links.get(3)?.hash });
  expect(links.get(6)).toMatchObject({ previous: links.get(4)?.hash });
  // What was attested is gone.
  await ledger.db.delete({ TableName: ledger.auditTable, Key: { pk, sequence: sequenceKey(2) } });
  await record();
  expect((await linksAt()).get(2)).toMatchObject({ previous: links.get(1)?.hash });
});

test("a page of a rare kind looks through 2000 entries and is empty then, and the next one goes on behind them", async () => {
  const log = `rare-${randomUUID()}`;
  const ledger = operator.ledgerAt();
  await recordAudit(ledger, { audit_log: log, by: "ada", action: "test" });
  const [entry] = await Array.fromAsync(readAllEntries({ db: ledger.db, table: ledger.auditTable }, log));
  if (entry === undefined) expect.unreachable();
  const LastEvaluatedKey = { pk: entriesPk(log), sequence: entry.sequence };
  const query = vi.spyOn(ledger.db, "query");
  query.mockImplementation(async () => ({ Items: Array(51).fill(entry), Count: 51, LastEvaluatedKey }));
  const page = await readAuditPage(ledger, { auditLog: log, isWanted: () => false }, undefined);
  expect(page).toEqual({ entries: [], next: expect.any(String) });
  expect(query).toHaveBeenCalledTimes(Math.ceil(2_001 / 51));
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
  const table = { db: ledger.db, table: ledger.auditTable };
  const places = async () => {
    const items = await Array.fromAsync(readNewestFirst(table, entriesPk(log), { pageItems: 20 }));
    return items.map(({ sequence }) => sequence);
  };
  const all = Array.from({ length: 52 }, (_, index) => sequenceKey(52 - index));
  expect(await places()).toEqual(all);
  const query = vi.spyOn(ledger.db, "query");
  const LastEvaluatedKey = { pk: entriesPk(log), sequence: sequenceKey(53) };
  query.mockImplementationOnce(async () => ({ Items: [], Count: 0, LastEvaluatedKey }));
  expect(await places()).toEqual(all);
  query.mockClear();
  const first = await page();
  expect(query.mock.calls).toMatchObject([[{ Limit: 51, ConsistentRead: true }]]);
  expect([first.seconds.length, first.seconds[0], first.seconds.at(-1)]).toEqual([50, 51, 2]);
  expect(await page(first.next)).toEqual({ next: undefined, seconds: [1, 0] });
  expect(await readAuditPage(ledger, { auditLog: log }, "bm9uZQ")).toBe("no_cursor");
  const minute = (number: number) => isoTime(NOON_MS + number * 60_000);
  const range = { from: minute(50), to: minute(51) };
  query.mockClear();
  expect(await readAuditPage(ledger, { auditLog: log, range }, undefined)).toMatchObject({
    entries: [{ details: { second: 51 } }, { details: { second: 50 } }],
  });
  // The newest entry says that the log is short.
  expect(query).toHaveBeenCalledTimes(2);
  expect(await readAuditPage(ledger, { auditLog: log, range }, first.next)).toEqual({ entries: [], next: undefined });
});

test("the entries of a time in a long log are found without reading those since, whatever lies between the places", async () => {
  const ledger = operator.ledgerAt();
  const log = `long-${randomUUID()}`;
  const entries: (ReturnType<typeof auditEntry> & { readonly sequence: string; readonly hash: string })[] = [];
  for (let minute = 0; minute < 300; minute += 1) {
    const action = { audit_log: log, by: "ada", action: "test", details: { minute } };
    entries.push(linkEntry(auditEntry(action, NOON_MS + minute * 60_000), entries.at(-1)));
  }
  // An item under a key that is no place, and one that cannot be read.
  const odd = { pk: entriesPk(log), sequence: "0000000150a" };
  const items = entries.map((entry, place) => (place === 224 ? { pk: entry.pk, sequence: entry.sequence } : entry));
  await putItems(ledger.db, ledger.auditTable, [...items, odd]);
  const query = vi.spyOn(ledger.db, "query");
  const minutesOf = async (from: number, to: number) => {
    const range = { from: isoTime(NOON_MS + from * 60_000), to: isoTime(NOON_MS + to * 60_000) };
    query.mockClear();
    const found = await readAuditPage(ledger, { auditLog: log, range }, undefined);
    const pages = await Promise.all(query.mock.results.map(({ value }) => value));
    // Two pages of 51 at most, and the reads that find where they begin.
    expect(pages.reduce((count, { Count }) => count + Count, 0)).toBeLessThan(115);
    return found === "no_cursor" ? found : found.entries.map(({ details }) => details.minute);
  };
  for (const minute of [0, 1, 100, 149, 150, 223, 299]) expect(await minutesOf(minute, minute)).toEqual([minute]);
  expect(await minutesOf(222, 226)).toEqual([226, 225, 223, 222]);
  expect(await minutesOf(-10, -1)).toEqual([]);
});

test("entries about an item are found without reading the others of their log, and only those of the given logs", async () => {
  const [log, other] = [`about-${randomUUID()}`, `about-${randomUUID()}`];
  const about = `transaction#${randomUUID()}`;
  const record = (minute: number, audit_log: string, subject?: string) =>
    recordAudit(operator.ledgerAt(NOON_MS + minute * 60_000), {
      ...{ audit_log, by: "ada", action: "test", details: { minute } },
      ...(subject !== undefined && { about: subject }),
    });
  for (let minute = 0; minute < 20; minute += 1) await record(minute, log, minute % 5 === 0 ? about : undefined);
  await record(16, other, about);
  const ledger = operator.ledgerAt(NOON_MS + 60 * 60_000);
  const query = vi.spyOn(ledger.db, "query");
  // From five minutes earlier, because the clocks of two writers differ.
  const found = await readAuditAbout(ledger, [log], about, isoTime(NOON_MS + 10 * 60_000));
  expect(found.map(({ details }) => details.minute)).toEqual([5, 10, 15]);
  const pages = await Promise.all(query.mock.results.map(({ value }) => value));
  // Of the log itself only the newest page.
  expect(pages.reduce((count, { Count }) => count + Count, 0)).toBe(4 + 10);
});

test("an entry about an item is found, once, as soon as it is written: what the index lacks is read from its log", async () => {
  const [log, about] = [`late-${randomUUID()}`, `transaction#${randomUUID()}`];
  const ledger = operator.ledgerAt();
  for (const [name, subject] of [
    ["own", about],
    ["other", "transaction#other"],
  ] as const) {
    await recordAudit(ledger, { audit_log: log, by: "ada", action: name, about: subject });
  }
  const found = async (from?: string) => (await readAuditAbout(ledger, [log], about, from)).map(({ action }) => action);
  expect(await found()).toEqual(["own"]);
  hideFromIndex(ledger.db, (_, { IndexName }) => IndexName !== undefined);
  expect(await found()).toEqual(["own"]);
  expect(await found(isoTime(NOON_MS + 6 * 60_000))).toEqual([]);
});
