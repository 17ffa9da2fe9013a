import { describe, expect, test } from "vitest";
import { balanceChangeOf, kindOf, type Step } from "../../../../../tools/admin/carry-over/kinds.ts";
import type { Item } from "../../../../../tools/admin/table-scan.ts";
import { aTransaction } from "../../../../builders/transaction.ts";

/** Goal: of one item in two ledgers, what is carried over, what is left as it is, and what an operator must see. */
const THEN = "2026-11-21T09:00:00.000Z";
const LATER = "2026-11-21T10:00:00.000Z";

const compare = (old: Item, here?: Item): Step => {
  const step = kindOf(old.pk)?.compare?.(old, here);
  if (step === undefined) throw new Error(`${old.pk} is not compared`);
  return step;
};
const kindFor = (old: Item, here?: Item) => compare(old, here).kind;

const open = (changes: Partial<ReturnType<typeof aTransaction>> = {}): Item =>
  aTransaction({ status: "processing", mode: "live", open: "live", ...changes });
const ended = (status: "success" | "failed", changes: Partial<ReturnType<typeof aTransaction>> = {}): Item => {
  const { open: _open, ...transaction } = aTransaction({ status, mode: "live", ...changes });
  return { ...transaction, ...(status === "failed" && { failure: { code: "delivery_failed" } }) };
};

describe("a transaction", () => {
  test("that is new is copied, and one that is the same is left as it is", () => {
    expect(kindFor(open())).toBe("copy");
    expect(kindFor(open(), open())).toBe("present");
    expect(kindFor(ended("failed"), ended("failed"))).toBe("present");
  });

  test.each(["success", "failed"] as const)("that is open here and ended as %s there takes that end", (status) => {
    const old = ended(status, { upstream_reference: "UP-1", updated_at: LATER });
    expect(compare(old, open())).toMatchObject({
      kind: "update",
      item: old,
      when: { values: { ":attempt": open().attempt } },
    });
  });

  test("that is open in both takes the upstream's reference, and keeps one that it has", () => {
    const named = open({ upstream_reference: "UP-1" });
    expect(compare(named, open())).toMatchObject({ kind: "update", item: named });
    expect(compare(ended("success", { upstream_reference: "UP-1" }), named)).toMatchObject({ kind: "update" });
    const other = ended("success", { upstream_reference: "UP-2" });
    expect(compare(other, named)).toEqual({ kind: "differs", fields: ["upstream_reference"] });
  });

  test("that has ended here stays: a later stage than there is nothing, another end is reported", () => {
    expect(kindFor(open(), ended("success"))).toBe("present");
    expect(compare(ended("failed"), ended("success"))).toEqual({ kind: "differs", fields: ["status", "failure"] });
  });

  test("of another request under the same reference is reported, whatever their ends", () => {
    const other = { attempt: "another", amount_kobo: aTransaction().amount_kobo };
    expect(compare(ended("success"), ended("success", other))).toEqual({ kind: "differs", fields: ["attempt"] });
    expect(compare(ended("success"), open(other))).toEqual({ kind: "differs", fields: ["attempt"] });
  });

  test("whose phone number was taken away in one of them is the same transaction", () => {
    const redacted = ended("success", { phone_number: "*********67", description: "MTN airtime for *********67" });
    expect(kindFor(ended("success"), redacted)).toBe("present");
    expect(kindFor(redacted, ended("success"))).toBe("present");
  });

  test("that cannot be read is not carried over", () => {
    expect(kindFor({ ...open(), amount_kobo: "much" })).toBe("unreadable");
    expect(kindFor({ pk: "transaction#1" })).toBe("unreadable");
  });
});

type Key = { key_id: string; status?: string; expires_at?: string };
const account = (changes: { version: number; status?: string; whitelist?: string[]; keys?: Key[] }): Item => ({
  pk: "account#acc_1",
  account_id: "acc_1",
  name: "checkout",
  owner: "accounts",
  created_at: THEN,
  status: "active",
  whitelist: ["203.0.113.7"],
  ...changes,
  keys: (changes.keys ?? []).map((key) => ({
    hash: `hash of ${key.key_id}`,
    mode: "live",
    status: "active",
    permissions: ["vtu"],
    created_at: THEN,
    ...key,
  })),
});

describe("an account", () => {
  test("has every key of both, revoked where one says so, and ending at the earlier end", () => {
    const old = account({
      version: 5,
      keys: [{ key_id: "a", status: "revoked" }, { key_id: "b", expires_at: LATER }, { key_id: "new" }],
    });
    const here = account({ version: 3, keys: [{ key_id: "a" }, { key_id: "b", expires_at: THEN }, { key_id: "c" }] });
    const step = compare(old, here);
    expect(step).toMatchObject({
      kind: "update",
      item: {
        version: 6,
        keys: [
          { key_id: "a", status: "revoked" },
          { key_id: "b", status: "active", expires_at: THEN },
          { key_id: "c", status: "active" },
          { key_id: "new", status: "active" },
        ],
      },
      when: { values: { ":read": 3 } },
    });
    // Once it is written there is nothing more to do.
    if (step.kind !== "update") throw new Error("It was not updated");
    expect(compare(old, step.item)).toEqual({ kind: "present" });
  });

  test("has the addresses of the ledger in which it was changed last", () => {
    const [old, here] = [account({ version: 5, whitelist: ["10.0.0.1"] }), account({ version: 3 })];
    expect(compare(old, here)).toMatchObject({ kind: "update", item: { whitelist: ["10.0.0.1"] } });
    expect(compare(here, old)).toEqual({ kind: "present" });
  });

  test("stays restricted where one ledger says so, and the report says that", () => {
    const note = "acc_1 is restricted in one ledger and stays restricted";
    const [restricted, active] = [account({ version: 3, status: "restricted" }), account({ version: 5 })];
    expect(compare(active, restricted)).toEqual({ kind: "present", note });
    expect(compare({ ...restricted, version: 6 }, active)).toMatchObject({ item: { status: "restricted" }, note });
  });
});

describe("other items", () => {
  const funding: Item = {
    ...{ pk: "funding#BANK-1", owner: "acc_1#entries", account_id: "acc_1", kind: "funding", entry_id: "BANK-1" },
    ...{ amount_kobo: 100_00, created_at: THEN },
  };

  test("that never change are copied, left, or reported where they differ", () => {
    expect([kindFor(funding), kindFor(funding, { ...funding })]).toEqual(["copy", "present"]);
    expect(compare({ ...funding, amount_kobo: 200_00 }, funding)).toEqual({ kind: "differs", fields: ["amount_kobo"] });
    const claim = { pk: "name#UP-1", transaction: "transaction#1" };
    expect(compare(claim, { ...claim, transaction: "transaction#2" })).toEqual({
      kind: "differs",
      fields: ["transaction"],
    });
    expect(kindFor({ pk: "consent#transaction#1", purpose: "kyc" })).toBe("copy");
  });

  test("an event that was decided there is decided here, and two decisions are reported", () => {
    const event = (state: string): Item => ({
      ...{ pk: "event#1", owner: "events", reason: "no_candidate", state, reference: "UP-1", says: "success" },
      ...{ type: "data", created_at: THEN },
    });
    expect(kindFor(event("matched"), event("open"))).toBe("update");
    expect(kindFor(event("open"), event("matched"))).toBe("present");
    expect(kindFor(event("matched"), event("discarded"))).toBe("differs");
  });

  test("a delivery with more attempts there, or an end, goes on from there", () => {
    const delivery = (state: string, attempts: number): Item => ({
      pk: "delivery#1#success",
      state,
      attempts: Array.from({ length: attempts }, (_, index) => ({ number: index + 1 })),
    });
    expect(kindFor(delivery("pending", 2), delivery("pending", 1))).toBe("update");
    expect(kindFor(delivery("delivered", 1), delivery("pending", 1))).toBe("update");
    expect(kindFor(delivery("pending", 1), delivery("pending", 2))).toBe("present");
    expect(kindFor(delivery("pending", 2), delivery("delivered", 1))).toBe("present");
  });

  test("a wallet's balance is not compared, and another threshold is noted", () => {
    const wallet = (changes: object): Item => ({
      ...{ pk: "wallet#acc_1", account_id: "acc_1", balance_kobo: 1, version: 1, updated_at: THEN, ...changes },
    });
    expect(compare(wallet({ balance_kobo: 2 }), wallet({}))).toEqual({ kind: "present" });
    expect(compare(wallet({ low_balance_threshold_kobo: 5 }), wallet({}))).toMatchObject({
      kind: "present",
      note: /wallet#acc_1/,
    });
    expect(kindFor(wallet({}))).toBe("copy");
  });

  test("a proof and the progress of the phone retention are left out, and a kind that nobody knows is no kind", () => {
    expect(kindOf("proof#acc_1")).toEqual({ name: "proofs" });
    expect(kindOf("phone-retention#acc_1#live")).toEqual({ name: "phone retention" });
    expect([kindOf("lock#1"), kindOf("toString#1"), kindOf("nothing")]).toEqual([undefined, undefined, undefined]);
  });

  test("move a wallet by what they came to", () => {
    const { amount_kobo } = aTransaction();
    expect(balanceChangeOf(funding)).toEqual({ accountId: "acc_1", at: THEN, kobo: 100_00, isOpen: false });
    expect(balanceChangeOf(open())).toMatchObject({ kobo: -amount_kobo, isOpen: true });
    expect(balanceChangeOf(ended("failed"))).toMatchObject({ kobo: 0, isOpen: false });
    expect(balanceChangeOf(open({ mode: "test" }))).toBeUndefined();
    expect(balanceChangeOf({ pk: "consent#transaction#1" })).toBeUndefined();
  });
});
