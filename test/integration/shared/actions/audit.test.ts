import { beforeAll, describe, expect, test } from "vitest";
import { createAccount } from "../../../../shared/access/accounts.ts";
import { recordAudited } from "../../../../shared/actions/action-context.ts";
import { auditRuns } from "../../../../shared/actions/audit.ts";
import type { ActionInput } from "../../../../shared/contract/actions/actions.ts";
import { type Actor, auditEntry, SERVICE } from "../../../../shared/ledger/audit.ts";
import { encodePageCursor } from "../../../../shared/ledger/page-cursor.ts";
import { encodeIndexKey } from "../../../../shared/ledger/query-index.ts";
import { OperatorError } from "../../../../shared/platform/operator-error.ts";
import { pagesOf } from "../../../../shared/platform/pages.ts";
import { putItems } from "../../../builders/dynamodb/put-items.ts";
import { freshTables } from "../../../builders/dynamodb/tables.ts";
import { anActionContext, anOwnersRequest, type TestContext } from "../../../builders/ledger/action-context.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

const tables = await freshTables();

const ARN = "arn:aws:sts::123456789012:assumed-role/operator/ada";
const context = () => anActionContext(tables);

/** Entries of one subject, a second apart. */
const record = async (subject: string, count: number): Promise<void> => {
  for (let second = 0; second < count; second += 1) {
    const at = anActionContext(tables, { clock: () => NOON_MS + second * 1_000, by: { by: "ada", caller_arn: ARN } });
    await recordAudited(at, subject, { action: "test", details: { number: second } });
  }
};

const numbersOf = (page: Awaited<ReturnType<(typeof auditRuns)["audit account"]>>) =>
  page.entries.map(({ details }) => details.number);

test("the audit log of an account comes in pages, newest first, each entry once; a cursor shows entries of the asked account only", async () => {
  await record("acc_one", 60);
  await record("acc_two", 12);
  const read = (account: string, cursor?: string) => auditRuns["audit account"](context(), { account, cursor });
  const pages = await Array.fromAsync(pagesOf((cursor) => read("acc_one", cursor)));
  expect(pages.map(({ entries }) => entries.length)).toEqual([50, 10]);
  expect(pages.flatMap(numbersOf)).toEqual(Array.from({ length: 60 }, (_, number) => 59 - number));
  const [first] = pages;
  const others = await read("acc_two", first?.next_cursor ?? "");
  expect(numbersOf(others).every((number) => Number(number) <= 10)).toBe(true);
  expect(numbersOf(await read("acc_two"))).toContain(11);
});

test("a text that is no cursor is refused", async () => {
  const created_at = "2026-11-21T12:00:00.000Z";
  const transaction = encodeIndexKey({ pk: "transaction#1", created_at });
  const noPlace = { pk: "entry#acc_1", created_at, sequence: "1" };
  for (const cursor of ["", "next", transaction, encodePageCursor(noPlace)]) {
    await expect(auditRuns["audit list"](context(), { cursor })).rejects.toThrow(OperatorError);
  }
});

test("an owner sees who acted and not the company's identity at AWS, which operators and readers see", async () => {
  await record("acc_arn", 1);
  const arnFor = async (changes: Partial<TestContext>) => {
    const { entries } = await auditRuns["audit account"](anActionContext(tables, changes), { account: "acc_arn" });
    expect(entries).toMatchObject([{ by: "ada", action: "test", why: null }]);
    return entries[0]?.caller_arn;
  };
  expect(await arnFor(anOwnersRequest())).toBeNull();
  expect(await arnFor(anOwnersRequest({ roles: ["finance"] }))).toBeNull();
  expect(await arnFor({ ...anOwnersRequest({ roles: ["reader"] }), capacity: "reader" })).toBe(ARN);
  expect(await arnFor({})).toBe(ARN);
});

test("an owner sees that something was proposed, and not what the upstream charges for it", async () => {
  const account = "acc_proposed";
  const consequence = "Sets a price below cost; the upstream's discount is 4 percent";
  const details = { proposal: "prop_1", action: "prices set", consequence };
  await recordAudited(anActionContext(tables, { by: { by: "ada" } }), account, {
    action: "proposals propose",
    details,
  });
  const entriesFor = async (changes: Partial<TestContext>) =>
    (await auditRuns["audit account"](anActionContext(tables, changes), { account })).entries;
  const { consequence: _hidden, ...shown } = details;
  const sentence = "Command line (says: ada) proposed: prices set";
  expect(await entriesFor(anOwnersRequest())).toEqual([expect.objectContaining({ sentence, details: shown })]);
  expect(await entriesFor({})).toMatchObject([
    { sentence: `Command line (says: ada) proposed: ${consequence}`, details },
  ]);
});

describe("one log over everything", () => {
  const OBI = "arn:aws:sts::123456789012:assumed-role/AWSReservedSSO_operate_0123/obi@example.com";
  const day = "2020-02-01";
  const list = (input: ActionInput<"audit list">) => auditRuns["audit list"](context(), input);
  const said = async (input: ActionInput<"audit list">) => (await list(input)).entries.map(({ sentence }) => sentence);
  /** Entries of three logs, a millisecond apart, of which one is a funding. */
  const put = async (date: string, count: number, funding: number): Promise<void> => {
    const { ledger } = context();
    const items = Array.from({ length: count }, (_, number) => {
      const action = number === funding ? "wallet fund" : "test";
      const details = { id: "GTB-2", amount: 1, number };
      const atMs = Date.parse(`${date}T10:00:00Z`) + number;
      const entry = auditEntry({ audit_log: `acc_${number % 3}`, by: "ada", action, details }, atMs);
      return { ...entry, sequence: `${date.replaceAll("-", "")}${String(number).padStart(4, "0")}`.slice(-10) };
    });
    await putItems(ledger.db, ledger.auditTable, items);
  };
  let shop = "";

  beforeAll(async () => {
    const { accounts } = context();
    shop = (await createAccount(accounts, { name: "shop", whitelist: [] })).account_id;
    const at = (second: number, by: string, signedIn: Partial<Actor> = {}) =>
      anActionContext(tables, {
        clock: () => Date.parse(`${day}T10:00:00Z`) + second * 1_000,
        by: { by, ...signedIn },
      });
    const ada = { person: { issuer: "https://id.example.com", sub: "7" } };
    const fund = { action: "wallet fund", details: { id: "GTB-1", amount: 50_000 }, why: "transfer" };
    await recordAudited(at(0, "ada@example.com", ada), shop, fund);
    await recordAudited(at(1, "ada@example.com", { caller_arn: OBI }), shop, {
      action: "transactions show",
      details: { reference: "DATA_1" },
    });
    await recordAudited(at(2, "Bola"), SERVICE, { action: "purchases off", details: { part: "mtn" } });
  });

  test("has the acts of all accounts and of the service, newest first, in words", async () => {
    expect(await said({ from: day, to: day })).toEqual([
      "Command line (says: Bola) switched purchases off (mtn)",
      "Command line (says: ada@example.com) looked at the order DATA_1",
      expect.stringMatching(
        /^ada@example\.com funded the wallet of shop with NGN.50,000\.00 \(bank reference GTB-1\)$/,
      ),
    ]);
    expect((await list({ from: day, to: day })).entries.map(({ account_id }) => account_id)).toEqual([
      null,
      shop,
      shop,
    ]);
  });

  test.each([
    ["a person's e-mail address", { person: "Ada@Example.com" }, ["transactions show", "wallet fund"]],
    ["what it has before the @", { person: "ADA" }, ["transactions show", "wallet fund"]],
    ["a name", { person: "bola" }, ["purchases off"]],
    ["an identity at AWS", { person: OBI }, ["transactions show"]],
    ["its last part, before the @", { person: "obi" }, ["transactions show"]],
    ["no part of a name", { person: "ad" }, []],
    ["no part of an address", { person: "example.com" }, []],
    ["an account", { account: "shop" }, ["transactions show", "wallet fund"]],
    ["what concerns no account", { account: SERVICE }, ["purchases off"]],
    ["money", { kind: "money" }, ["wallet fund"]],
    ["personal data seen", { kind: "seen" }, ["transactions show"]],
    ["a time", { from: `${day}T10:00:01Z` }, ["purchases off", "transactions show"]],
  ] as const)("is filtered by %s", async (_, filter, actions) => {
    const account = "account" in filter && filter.account === "shop" ? { account: shop } : {};
    const { entries } = await list({ from: day, to: day, ...filter, ...account });
    expect(entries.map(({ action }) => action)).toEqual(actions);
  });

  test("comes in pages, each entry once, also of a rare kind; a cursor beyond the period is refused", async () => {
    const many = "2020-03-01";
    await put(many, 120, 3);
    const pages = await Array.fromAsync(pagesOf((cursor) => list({ from: many, to: many, cursor })));
    const seen = pages.flatMap(numbersOf);
    const cursor = pages[0]?.next_cursor ?? "";
    await expect(list({ from: day, to: day, cursor })).rejects.toThrow(OperatorError);
    expect(seen).toEqual(Array.from({ length: 120 }, (_, number) => 119 - number));
    expect(numbersOf(await list({ from: many, to: many, kind: "money" }))).toEqual([3]);
  });

  test("looks through 2,000 entries for a page at most, and goes on behind them", async () => {
    const april = "2020-04-01";
    await put(april, 2_010, 0);
    const first = await list({ from: april, to: april, kind: "money" });
    expect(first.entries).toEqual([]);
    const second = await list({ from: april, to: april, kind: "money", cursor: first.next_cursor ?? "" });
    expect(second).toMatchObject({ entries: [{ action: "wallet fund" }], next_cursor: null });
  });
});
