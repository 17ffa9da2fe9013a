import { expect, test, vi } from "vitest";
import { hasSignedIn, identityOfPerson, listPeople, recordSignIn } from "../../../../shared/access/person-item.ts";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { openOperatorLedger } from "../../../builders/ledger/operator-ledger.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

test("a sign-in is recorded under the provider's name of the person, and again after 15 minutes or with another right", async () => {
  const operator = await openOperatorLedger();
  const person = { issuer: "https://login.example.com", sub: "ada" };
  const known = { by: "ada", identity: identityOfPerson(person), roles: [], ownerKeys: ["owner#1"], email: undefined };
  const signIn = async (minutes: number, changes: Partial<Parameters<typeof recordSignIn>[1]> = {}) => {
    await recordSignIn(operator.ledgerAt(NOON_MS + minutes * MINUTE_MS), { ...known, ...changes });
    const [stored, ...others] = await listPeople(operator.ledgerAt());
    expect(others).toEqual([]);
    return stored?.last_seen_at === undefined ? undefined : (Date.parse(stored.last_seen_at) - NOON_MS) / MINUTE_MS;
  };
  expect(await signIn(0, { ownerKeys: [] })).toBeUndefined();
  expect(await hasSignedIn(operator.ledgerAt(), person)).toBe(false);
  expect(await signIn(0)).toBe(0);
  expect(await hasSignedIn(operator.ledgerAt(), person)).toBe(true);
  expect(await hasSignedIn(operator.ledgerAt(), { ...person, issuer: "https://other.example.com" })).toBe(false);
  expect(await signIn(15)).toBe(0);
  expect(await signIn(16)).toBe(16);
  expect(await signIn(17, { roles: ["reader"] })).toBe(17);
  expect(await signIn(18, { roles: ["reader"], ownerKeys: [] })).toBe(18);
  expect(await signIn(19, { roles: ["reader"], ownerKeys: [], email: "ada@example.com" })).toBe(19);
  expect(await signIn(20, { roles: [], ownerKeys: [] })).toBe(20);
  expect(await listPeople(operator.ledgerAt())).toMatchObject([
    { roles: [], owner_keys: [], email: null, created_at: isoTime(NOON_MS) },
  ]);
});

test("the first sign-in of a person with a role and no account is recorded, and fails if it cannot be", async () => {
  const ledger = (await openOperatorLedger()).ledgerAt();
  const person = { issuer: "https://login.example.com", sub: "bola" };
  const right = { roles: ["reader"], ownerKeys: [], email: undefined } as const;
  const reader = { by: "bola", identity: identityOfPerson(person), ...right };
  const update = vi.spyOn(ledger.db, "update").mockRejectedValueOnce(new Error("No answer"));
  await expect(recordSignIn(ledger, reader)).rejects.toThrow("No answer");
  update.mockRestore();
  await recordSignIn(ledger, reader);
  expect(await hasSignedIn(ledger, person)).toBe(true);
});
