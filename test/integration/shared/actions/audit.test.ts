import { beforeAll, expect, test } from "vitest";
import { type ActionContext, recordAudited } from "../../../../shared/actions/action-context.ts";
import { auditRuns } from "../../../../shared/actions/audit.ts";
import { SERVICE } from "../../../../shared/ledger/audit.ts";
import { encodeIndexKey } from "../../../../shared/ledger/query-index.ts";
import { OperatorError } from "../../../../shared/platform/operator-error.ts";
import { anActionContext, anOwnersRequest } from "../../../builders/action-context.ts";
import { NOON_MS } from "../../../builders/noon.ts";
import { freshTables } from "../../../builders/tables.ts";

let tables: Awaited<ReturnType<typeof freshTables>>;
beforeAll(async () => {
  tables = await freshTables();
});

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

test("the audit log of an account comes in pages, newest first, each entry once", async () => {
  await record("acc_pages", 120);
  const seen: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await auditRuns["audit account"](context(), { account: "acc_pages", ...(cursor && { cursor }) });
    expect(page.entries.length).toBeLessThanOrEqual(50);
    seen.push(...numbersOf(page));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  expect(seen).toEqual(Array.from({ length: 120 }, (_, number) => 119 - number));
});

test("a cursor of another account's list shows entries of the asked account only", async () => {
  await record("acc_one", 60);
  await record("acc_two", 60);
  const { next_cursor } = await auditRuns["audit account"](context(), { account: "acc_one" });
  const page = await auditRuns["audit account"](context(), { account: "acc_two", cursor: next_cursor ?? "" });
  const own = await auditRuns["audit account"](context(), { account: "acc_two" });
  expect(numbersOf(page).every((number) => Number(number) <= 10)).toBe(true);
  expect(own.entries.slice(0, 1)).toMatchObject([{ details: { number: 59 } }]);
});

test("a text that is no cursor is refused", async () => {
  const transaction = encodeIndexKey({ pk: "transaction#1", created_at: "2026-11-21T12:00:00.000Z" });
  for (const cursor of ["", "next", transaction]) {
    await expect(auditRuns["audit service"](context(), { cursor })).rejects.toThrow(OperatorError);
  }
});

test("an owner sees who acted and not the company's identity at AWS, which operators and readers see", async () => {
  await record("acc_arn", 1);
  const arnFor = async (changes: Partial<ActionContext>) => {
    const { entries } = await auditRuns["audit account"](anActionContext(tables, changes), { account: "acc_arn" });
    expect(entries).toMatchObject([{ by: "ada", action: "test", why: null }]);
    return entries[0]?.caller_arn;
  };
  expect(await arnFor(anOwnersRequest())).toBeNull();
  expect(await arnFor(anOwnersRequest({ role: "reader" }))).toBe(ARN);
  expect(await arnFor({})).toBe(ARN);
});

test("the audit log of the service has what concerns no account", async () => {
  await record(SERVICE, 2);
  expect(numbersOf(await auditRuns["audit service"](context(), {}))).toEqual([1, 0]);
});
