import { expect, test } from "vitest";
import { balanceChangeOf } from "../../../../../tools/admin/carry-over/balance-change.ts";
import type { Step } from "../../../../../tools/admin/carry-over/compare.ts";
import { kindOf } from "../../../../../tools/admin/carry-over/kinds.ts";
import type { Item } from "../../../../../tools/admin/table-scan.ts";
import { aTransaction } from "../../../../builders/ledger/transaction.ts";

/** Goal: for an item of two ledgers: whether it is copied, updated, left as it is, or reported to the operator. */
const THEN = "2026-11-21T09:00:00.000Z";
const LATER = "2026-11-21T10:00:00.000Z";

const compare = (old: Item, restored?: Item): Step => {
  const step = kindOf(old.pk)?.compare?.(old, restored, { from: "old", to: "restored" });
  if (step === undefined) throw new Error(`${old.pk} has no comparison`);
  return step;
};
const kindFor = (old: Item, restored?: Item) => compare(old, restored).kind;

const wallet = (changes: object): Item => ({
  ...{ pk: "wallet#acc_1", account_id: "acc_1", balance_kobo: 1, version: 1, updated_at: THEN, ...changes },
});
const event = (state: string, changes: object = {}): Item => ({
  ...{ pk: "event#1", list_key: "events", reason: "no_candidate", state, reference: "UP-1", says: "success" },
  ...{ type: "data", created_at: THEN, ...changes },
});
/** Of a delivery with this number of attempts. */
const delivery = (attempts: number, changes: object = {}): Item => ({
  ...{ pk: "delivery#1#success", state: "pending", ...changes },
  attempts: Array.from({ length: attempts }, (_, index) => ({ number: index + 1 })),
});
const open = (changes: Partial<ReturnType<typeof aTransaction>> = {}): Item =>
  aTransaction({ status: "processing", mode: "live", ...changes });
const final = (status: "success" | "failed", changes: Partial<ReturnType<typeof aTransaction>> = {}): Item => {
  const { open: _open, ...transaction } = aTransaction({ status, mode: "live", ...changes });
  return { ...transaction, ...(status === "failed" && { failure: { code: "delivery_failed" } }) };
};

test("a transaction that the restored ledger lacks is copied, and an equal one is left as it is", () => {
  expect(kindFor(open())).toBe("copy");
  expect(kindFor(open(), open())).toBe("present");
  expect(kindFor(final("failed"), final("failed"))).toBe("present");
});

test.each(["success", "failed"] as const)(
  "a transaction that is open in the restored ledger and %s in the old one is updated",
  (status) => {
    const old = final(status, { upstream_reference: "UP-1", updated_at: LATER });
    expect(compare(old, open())).toMatchObject({
      kind: "update",
      item: old,
      when: {
        expression:
          "#status = :status AND #write_token = :write_token AND attribute_not_exists(#upstream_reference) AND attribute_not_exists(#claim) AND attribute_not_exists(#queued)",
        values: { ":status": "processing", ":write_token": open().write_token },
      },
    });
  },
);

test("an open transaction takes the upstream's reference from the old ledger, but never replaces its own", () => {
  const named = open({ upstream_reference: "UP-1" });
  expect(compare(named, open())).toMatchObject({ kind: "update", item: named });
  expect(compare(final("success", { upstream_reference: "UP-1" }), named)).toMatchObject({ kind: "update" });
  const other = final("success", { upstream_reference: "UP-2" });
  expect(compare(other, named)).toEqual({ kind: "differs", fields: ["upstream_reference"] });
});

test("a final transaction stays as it is, and another final status in the old ledger is reported", () => {
  expect(kindFor(open(), final("success"))).toBe("present");
  expect(compare(final("failed"), final("success"))).toEqual({ kind: "differs", fields: ["status", "failure"] });
});

test("a transaction of another request under the same reference is reported, whatever their statuses", () => {
  const other = { write_token: "another", amount_kobo: aTransaction().amount_kobo };
  expect(compare(final("success"), final("success", other))).toEqual({ kind: "differs", fields: ["write_token"] });
  expect(compare(final("success"), open(other))).toEqual({ kind: "differs", fields: ["write_token"] });
});

test("a phone number that is masked in the old ledger is masked in the restored one, and one that is masked here stays so", () => {
  const masked = final("success", { phone_number: "*********67", description: "MTN 1GB data for *********67" });
  const whole = final("success", { phone_key: "hash" });
  expect(kindFor(whole, masked)).toBe("present");
  const step = compare(masked, whole);
  expect(step).toMatchObject({ kind: "update", item: masked, when: { values: { ":phone_key": "hash" } } });
  expect(step).not.toHaveProperty("item.phone_key");
  expect(compare(masked, masked)).toEqual({ kind: "present" });
  // An erasure masks the number before it removes what the order is found by.
  const found = { ...masked, phone_key: "hash" };
  expect(compare(found, whole)).toMatchObject({ kind: "update", item: found });
  expect(compare(masked, found)).toMatchObject({ kind: "update", item: masked });
  expect(compare(masked, found)).not.toHaveProperty("item.phone_key");
});

test("a check that was erased in the old ledger is erased in the restored one, and is the same check", () => {
  const check = { type: "nin_verification", phone_number: undefined } as const;
  const erased = final("success", { ...check, fingerprint: "erased" });
  expect(compare(erased, final("success", check))).toMatchObject({
    kind: "update",
    item: { fingerprint: "erased" },
    when: { values: { ":fingerprint": "fingerprint" } },
  });
  expect(compare(final("success", check), erased)).toEqual({ kind: "present" });
  expect(compare(erased, open(check))).toMatchObject({ kind: "update", item: erased });
  const other = final("success", { ...check, fingerprint: "another" });
  expect(compare(other, final("success", check))).toEqual({ kind: "differs", fields: ["fingerprint"] });
});

const consent: Item = {
  ...{ pk: "consent#transaction#1", account_id: "acc_1", key_id: "key_1", mode: "live", subject: "hash" },
  ...{ subject_key: "key", operation: "nin_verification", extent: "basic", purpose: "kyc", request_id: "req" },
  created_at: THEN,
};

test("a consent has neither a subject nor a purpose that one of the ledgers has removed, and another change is reported", () => {
  const { subject: _subject, subject_key: _key, ...erased } = consent;
  expect(compare(consent, { ...consent })).toEqual({ kind: "present" });
  expect(compare(erased, consent)).toMatchObject({
    kind: "update",
    item: erased,
    when: { values: { ":subject": "hash" } },
  });
  expect(compare(consent, erased)).toEqual({ kind: "present" });
  const { purpose: _purpose, ...reduced } = consent;
  expect(compare(reduced, erased)).toMatchObject({ kind: "update", item: { pk: consent.pk } });
  expect(compare({ ...consent, purpose: "other" }, consent)).toEqual({ kind: "differs", fields: ["purpose"] });
  expect(compare({ ...erased, request_id: "other" }, consent)).toEqual({ kind: "differs", fields: ["request_id"] });
});

test("a transaction that cannot be parsed is reported as unreadable", () => {
  expect(kindFor({ ...open(), amount_kobo: "much" })).toBe("unreadable");
  expect(kindFor({ pk: "transaction#1" })).toBe("unreadable");
});

/** An order that waits in this table; `sent`: it was claimed then, and refused. */
const waiting = (table: string, sent: { readonly claim: string; readonly sent_at: string } | object = {}): Item =>
  open({
    open: "queued#acc_1",
    queued: { order: { kind: "data", network_id: 1, plan_id: 101 }, table },
    ...sent,
  });
const first = { claim: "first", sent_at: THEN };
const second = { claim: "second", sent_at: LATER };

test("an order that waits in the old ledger waits in the restored ledger from now on", () => {
  expect(compare(waiting("old"))).toEqual({ kind: "copy", item: waiting("restored") });
  expect(compare(waiting("old"), waiting("old"))).toMatchObject({ kind: "update", item: waiting("restored") });
  expect(compare(waiting("old"), open())).toMatchObject({ kind: "update", item: waiting("restored") });
  expect(compare(waiting("old"), waiting("restored"))).toEqual({ kind: "present" });
});

test("an order that waited when the old ledger was itself restored is not said to be unsent", () => {
  expect(compare(waiting("older"))).toEqual({ kind: "copy", item: waiting("older") });
  expect(compare(waiting("older"), waiting("older"))).toEqual({ kind: "present" });
});

test("an order that was claimed, refused or settled in the old ledger since does not wait in the restored one as before", () => {
  const steps = [open(first), waiting("old", first), open(second), final("success", second)];
  for (const [index, further] of steps.entries()) {
    for (const before of [waiting("old"), ...steps.slice(0, index)]) {
      const { queued: waits } = further;
      const item = waits === undefined ? further : waiting("restored", first);
      expect(compare(further, before)).toMatchObject({ kind: "update", item });
      if (further.status === "processing") expect(compare(before, further)).toEqual({ kind: "present" });
    }
  }
});

test("an id of an endpoint is used in neither ledger again, whichever has the later account", () => {
  const made = (endpoints_made: number, version: number) => ({ ...account({ version }), endpoints_made });
  expect(compare({ ...made(2, 5), name: "till" }, made(4, 3))).toMatchObject({ item: { endpoints_made: 4 } });
  expect(compare(made(4, 3), made(2, 5))).toMatchObject({ item: { endpoints_made: 4 } });
});

type Key = { key_id: string; status?: string; expires_at?: string; order_limits?: object };
const account = (changes: { version: number; status?: string; whitelist?: string[]; keys?: Key[] }): Item => ({
  pk: "account#acc_1",
  account_id: "acc_1",
  name: "checkout",
  list_key: "accounts",
  created_at: THEN,
  status: "active",
  whitelist: ["203.0.113.7"],
  entitlements: { vtu: null },
  owners: [],
  endpoints: [],
  endpoints_made: 0,
  ...changes,
  keys: (changes.keys ?? []).map((key) => ({
    hash: `hash of ${key.key_id}`,
    name: "Live key",
    mode: "live",
    status: "active",
    permissions: ["vtu"],
    created_at: THEN,
    ...key,
  })),
});

test("an account has all keys of both ledgers, revoked if either is, with the earlier expiry", () => {
  const old = account({
    version: 5,
    keys: [{ key_id: "a", status: "revoked" }, { key_id: "b", expires_at: LATER }, { key_id: "new" }],
  });
  const restored = account({ version: 3, keys: [{ key_id: "a" }, { key_id: "b", expires_at: THEN }, { key_id: "c" }] });
  const step = compare(old, restored);
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
    when: { values: { ":version": 3 } },
  });
  // A second comparison finds nothing to do.
  if (step.kind !== "update") throw new Error("It was not updated");
  expect(compare(old, step.item)).toEqual({ kind: "present" });
});

test("a key has the limits of the ledger in which its account has the higher version, and is revoked if it is in either", () => {
  const order_limits = { day_naira: 1_000 };
  const limited = account({ version: 5, keys: [{ key_id: "a", order_limits }] });
  const unlimited = account({ version: 3, keys: [{ key_id: "a", status: "revoked" }] });
  const step = compare(limited, unlimited);
  expect(step).toMatchObject({ item: { keys: [{ key_id: "a", status: "revoked", order_limits }] } });
  if (step.kind !== "update") throw new Error("It was not updated");
  expect(compare(limited, step.item)).toEqual({ kind: "present" });
  // The limits were removed since.
  const removed = compare({ ...unlimited, version: 7 }, limited);
  expect(removed).toMatchObject({ item: { keys: [{ key_id: "a", status: "revoked" }] } });
  expect(removed).not.toHaveProperty("item.keys.0.order_limits");
  expect(compare(unlimited, limited)).toMatchObject({ item: { keys: [{ status: "revoked", order_limits }] } });
});

test.each([
  ["addresses", { whitelist: ["10.0.0.1"] }],
  ["owners", { owners: [{ kind: "email", value: "ada@example.com" }] }],
])("an account has the %s of the ledger in which it has the higher version", (_, own) => {
  const [older, newer] = [account({ version: 3 }), account({ version: 5 })];
  expect(compare({ ...newer, ...own }, older)).toMatchObject({ kind: "update", item: own });
  expect(compare(older, { ...newer, ...own })).toEqual({ kind: "present" });
  const { whitelist, owners } = newer;
  expect(compare(newer, { ...older, ...own })).toMatchObject({ kind: "update", item: { whitelist, owners } });
});

test("an account that is restricted in either ledger stays restricted, with a note", () => {
  const [restricted, active] = [account({ version: 3, status: "restricted" }), account({ version: 5 })];
  expect(compare(active, restricted)).toEqual({
    kind: "present",
    note: "acc_1 is active in the old ledger and restricted here: it is restricted now",
  });
  expect(compare({ ...restricted, version: 6 }, active)).toMatchObject({
    item: { status: "restricted" },
    note: "acc_1 is restricted in the old ledger and active here: it is restricted now",
  });
});

test("an account and its wallet are closed if the old ledger has them so, and otherwise restricted", () => {
  const closed = account({ version: 3, status: "closed" });
  for (const status of ["active", "restricted"]) {
    expect(compare(closed, account({ version: 5, status }))).toMatchObject({ item: { status: "closed" } });
    expect(compare(account({ version: 5, status }), closed)).toMatchObject({ item: { status: "restricted" } });
  }
  const restricted = { restricted: true, restricted_at: THEN };
  const empty = { ...restricted, closed: true };
  expect(compare(wallet(empty), wallet({}))).toMatchObject({ item: wallet(empty) });
  expect(compare(wallet(restricted), wallet(empty))).toEqual(
    expect.objectContaining({ kind: "update", item: wallet(restricted) }),
  );
  expect(compare(wallet(empty), wallet(empty))).toEqual({ kind: "present" });
});

const funding: Item = {
  ...{ pk: "funding#BANK-1", list_key: "acc_1#entries", account_id: "acc_1", kind: "funding", entry_id: "BANK-1" },
  ...{ amount_kobo: 100_00, created_at: THEN },
};

test("an item of an immutable kind is copied if missing, left if equal, and reported if different", () => {
  expect([kindFor(funding), kindFor(funding, { ...funding })]).toEqual(["copy", "present"]);
  expect(compare({ ...funding, amount_kobo: 200_00 }, funding)).toEqual({ kind: "differs", fields: ["amount_kobo"] });
  expect(kindFor(consent)).toBe("copy");
});

test("an upstream reference has what either ledger knows of it, and two transactions of it are reported", () => {
  const pk = "upstream-reference#UP-1";
  const match = { pk, transaction_pk: "transaction#1" };
  const noted = { pk, failed_event_pk: "event#1" };
  expect([kindFor(match), kindFor(match, { ...match }), kindFor(noted, { ...noted, ...match })]).toEqual([
    "copy",
    "present",
    "present",
  ]);
  const when = {
    expression:
      "#pk = :pk AND attribute_not_exists(#transaction_pk) AND attribute_not_exists(#success_event_pk) AND #failed_event_pk = :failed_event_pk",
    names: {
      "#pk": "pk",
      "#transaction_pk": "transaction_pk",
      "#success_event_pk": "success_event_pk",
      "#failed_event_pk": "failed_event_pk",
    },
    values: { ":pk": pk, ":failed_event_pk": "event#1" },
  };
  expect(compare({ ...match, success_event_pk: "event#2" }, noted)).toEqual({
    kind: "update",
    item: { ...match, success_event_pk: "event#2", failed_event_pk: "event#1" },
    when,
  });
  expect(compare(match, { pk, transaction_pk: "transaction#2" })).toEqual({
    kind: "differs",
    fields: ["transaction_pk"],
  });
});

test("an open event takes the operator's decision from the old ledger, and two decisions are reported", () => {
  expect(kindFor(event("matched"), event("open"))).toBe("update");
  expect(kindFor(event("open"), event("matched"))).toBe("present");
  expect(kindFor(event("matched"), event("discarded"))).toBe("differs");
  const conflicting = event("open", { reason: "conflicting_events" });
  expect(kindFor(conflicting, event("open"))).toBe("update");
  expect([kindFor(event("open"), conflicting), kindFor(conflicting, event("matched"))]).toEqual(["present", "present"]);
});

test("an event shows no more digits of a number than in the old ledger", () => {
  const [comparable, masked] = [{ phone_masked: "0803****567" }, { phone_masked: "*********67" }];
  expect(compare(event("open", masked), event("matched", comparable))).toMatchObject({
    kind: "update",
    item: event("matched", masked),
    when: { values: { ":state": "matched", ":phone_masked": comparable.phone_masked } },
  });
  expect(compare(event("open", comparable), event("open", masked))).toEqual({ kind: "present" });
});

test("an attempt has no answer of its endpoint that was removed in the old ledger, and attempts since keep theirs", () => {
  const answered = (...bodies: readonly (string | undefined)[]): Item => ({
    ...{ pk: "delivery#1#success", state: "exhausted" },
    attempts: bodies.map((response_body, index) => ({
      number: index + 1,
      ...(response_body !== undefined && { response_body, response_headers: { location: "/ada" } }),
    })),
  });
  expect(compare(answered(undefined), answered("Dear Ada"))).toMatchObject({ item: answered(undefined) });
  expect(compare(answered(undefined), answered("Dear Ada", "no"))).toMatchObject({ item: answered(undefined, "no") });
  expect(compare(answered("Dear Ada"), answered(undefined))).toEqual({ kind: "present" });
});

test("a proposal that was decided since is not open again, and an undecided one is not carried over", () => {
  const proposal = (state: "open" | "approved" | "rejected"): Item => ({
    ...{ pk: "proposal#prop_1", list_key: "proposals", proposal_id: "prop_1", state, action: "wallet adjust" },
    ...{ input: "{}", consequence: "Gives 5,000 NGN", proposed_by: "Ada", proposer: "ada" },
    ...{ created_at: THEN, expires_at: LATER, ...(state === "open" && { open: "proposals", listed_at: LATER }) },
  });
  for (const decided of [proposal("approved"), proposal("rejected")]) {
    expect(compare(decided)).toEqual({ kind: "copy", item: decided });
    const when = { expression: "#state = :state", names: { "#state": "state" }, values: { ":state": "open" } };
    expect(compare(decided, proposal("open"))).toEqual({ kind: "update", item: decided, when });
    expect(compare(decided, decided)).toEqual({ kind: "present" });
    expect(compare(proposal("open"), decided)).toEqual({ kind: "present" });
  }
  expect(compare(proposal("open"))).toEqual({ kind: "skipped" });
  expect(compare(proposal("approved"), proposal("rejected"))).toEqual({ kind: "differs", fields: ["state"] });
});

test("a person is known as of the later sign-in, so that nobody is notified by a role that was lost since", () => {
  const person = (last_seen_at: string, roles: readonly string[]): Item => ({
    ...{ pk: "person#hash", by: "Ada", roles, owner_keys: [], email: null, list_key: "people" },
    ...{ created_at: THEN, last_seen_at },
  });
  const [operator, nobody] = [person(THEN, ["operator"]), person(LATER, [])];
  const when = { values: { ":last_seen_at": THEN } };
  expect(compare(nobody, operator)).toMatchObject({ kind: "update", item: nobody, when });
  expect(compare(operator, nobody)).toEqual({ kind: "present" });
  expect(kindFor(operator)).toBe("copy");
});

const delivered = { state: "delivered" };
const parked = { open: "parked#acc_1" };
test.each<[string, Step["kind"], old: Item, restored: Item]>([
  ["pending, with more attempts in the old ledger", "update", delivery(2), delivery(1)],
  ["pending, and final in the old ledger", "update", delivery(1, delivered), delivery(1)],
  ["pending, with fewer attempts in the old ledger", "present", delivery(1), delivery(2)],
  ["final", "present", delivery(2), delivery(1, delivered)],
  ["pending, and parked after the moment", "update", delivery(1, parked), delivery(1)],
  ["pending with more attempts than when it was parked", "present", delivery(1, parked), delivery(2)],
  ["parked in both", "present", delivery(1, parked), delivery(1, parked)],
  ["parked in the restored ledger alone", "present", delivery(1), delivery(1, parked)],
])("a delivery that is %s: %s", (_, kind, old, restored) => {
  expect(kindFor(old, restored)).toBe(kind);
});

test("an owner has the accounts of both ledgers, because the account itself says who owns it", () => {
  const owner = (...accounts: readonly string[]) => ({
    pk: "owner#hash",
    ...(accounts.length > 0 && { accounts: new Set(accounts) }),
  });
  expect(kindFor(owner("acc_1"))).toBe("copy");
  expect(kindFor(owner("acc_1"), owner("acc_1", "acc_2"))).toBe("present");
  expect(kindFor(owner(), owner())).toBe("present");
  expect(compare(owner("acc_1"), owner("acc_2"))).toMatchObject({
    kind: "update",
    item: owner("acc_2", "acc_1"),
    when: { values: { ":accounts": new Set(["acc_2"]) } },
  });
  expect(kindFor(owner("acc_1"), owner())).toBe("update");
});

test("the later change of a subscription is kept", () => {
  const subscription = (minute: number, changes = {}) => ({
    ...{ pk: "subscription#wallet.low#acc_1#1", account_id: "acc_1", endpoint: "1", event: "wallet.low" },
    ...{ updated_at: `2026-11-21T12:0${minute}:00.000Z`, ...changes },
  });
  const ended = subscription(2);
  const begun = subscription(1, { open: "subscription#wallet.low" });
  expect(kindFor(ended, begun)).toBe("update");
  expect(kindFor(begun, ended)).toBe("present");
  expect(kindFor(subscription(1, { low_since: "2026-11-21T12:05:00.000Z" }), begun)).toBe("present");
});

test("the earlier of two requeues of an endpoint's parked deliveries is kept", () => {
  const requeueIn = (minute: number): Item => ({
    ...{
      pk: "parked#acc_1#1",
      account_id: "acc_1",
      endpoint: "1",
      open: "parked",
      listed_at: `2026-11-21T12:0${minute}:00.000Z`,
    },
  });
  expect(kindFor(requeueIn(1))).toBe("copy");
  expect(kindFor(requeueIn(1), requeueIn(2))).toBe("update");
  expect(kindFor(requeueIn(2), requeueIn(1))).toBe("present");
  expect(compare(requeueIn(1), requeueIn(2))).toMatchObject({
    when: { values: { ":listed_at": requeueIn(2).listed_at } },
  });
});

test("a wallet's balance is not compared, and a different threshold gives a note", () => {
  expect(compare(wallet({ balance_kobo: 2 }), wallet({}))).toEqual({ kind: "present" });
  expect(compare(wallet({ low_balance_threshold_kobo: 5 }), wallet({}))).toMatchObject({
    kind: "present",
    note: /wallet#acc_1/,
  });
  expect(kindFor(wallet({}))).toBe("copy");
});

test("a wallet that is restricted in either ledger stays restricted", () => {
  expect(compare(wallet({ restricted: true, restricted_at: THEN }), wallet({ version: 4 }))).toMatchObject({
    kind: "update",
    item: wallet({ version: 4, restricted: true, restricted_at: THEN }),
    when: { values: { ":version": 4 } },
  });
  expect(compare(wallet({}), wallet({ restricted: true }))).toEqual({ kind: "present" });
  expect(compare(wallet({ restricted: true }), wallet({ restricted: true }))).toEqual({ kind: "present" });
});

test("a wallet keeps the later seal of both ledgers, so that nothing is booked in a closed month of the old one", () => {
  const [september, october] = ["2026-09-30T22:59:59.999Z", "2026-10-31T22:59:59.999Z"];
  expect(compare(wallet({ sealed_to: october }), wallet({ version: 4 }))).toMatchObject({
    kind: "update",
    item: wallet({ version: 4, sealed_to: october }),
    when: { expression: expect.stringContaining("attribute_not_exists(#sealed_to)"), values: { ":version": 4 } },
  });
  expect(
    compare(wallet({ sealed_to: october, restricted: true, restricted_at: THEN }), wallet({ sealed_to: september })),
  ).toMatchObject({
    kind: "update",
    item: wallet({ restricted: true, restricted_at: THEN, sealed_to: october }),
    when: { values: { ":version": 1, ":sealed_to": september } },
  });
  expect(compare(wallet({ sealed_to: september }), wallet({ sealed_to: october }))).toEqual({ kind: "present" });
});

test("checkpoints and the progress of the phone retention have no comparison, and an unknown prefix has no kind", () => {
  expect(kindOf("checkpoint#acc_1")).toEqual({ name: "checkpoints" });
  expect(kindOf("phone-retention#acc_1#live")).toEqual({ name: "phone retention" });
  expect([kindOf("lock#1"), kindOf("toString#1"), kindOf("nothing")]).toEqual([undefined, undefined, undefined]);
});

test("a balance change is a funding's amount, a live transaction's debit unless it failed, and nothing for other items", () => {
  const { amount_kobo } = aTransaction();
  expect(balanceChangeOf(funding)).toMatchObject({ accountId: "acc_1", at: THEN, kobo: 100_00, isOpen: false });
  expect(balanceChangeOf(open())).toMatchObject({ kobo: -amount_kobo, isOpen: true });
  expect(balanceChangeOf(final("failed"))).toMatchObject({ kobo: 0, isOpen: false });
  expect(balanceChangeOf(open({ mode: "test" }))).toBeUndefined();
  expect(balanceChangeOf({ pk: "consent#transaction#1" })).toBeUndefined();
});
