import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "#zod";
import { MINUTE_MS } from "../../shared/contract/values/durations.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { localTableNames } from "../../tools/local/tables.ts";
import { ageForSubjects, type OperatedService, startOperatedService, type TestApp } from "../builders/service/admin.ts";

/**
 * Goal: a person is answered and erased over all accounts, and the books, replays, exports and the audit log are as before.
 * Method: three accounts check one person and sell to one number; everything is read before and after, by commands.
 */
const NIN = "12345678912";
const PHONE = "08031112222";
/** Its order stays open. */
const OPEN_PHONE = "08000000004";
const WHY = ["--why", "request 2026-014"];
/** The end of the exports: checks that are not made older are younger, however long the tests take. */
const TO = isoTime(Date.now() - 30 * MINUTE_MS);
const evidence = { method: "otp", id: "otp-5f2c", obtained_at: "2026-11-21T09:30:00.000Z" };

let service: OperatedService;
let apps: readonly TestApp[];
let before: Awaited<ReturnType<typeof readBooks>>;
beforeAll(async () => {
  service = await startOperatedService();
  apps = [await service.newApp("one"), await service.newApp("two"), await service.newApp("three")];
  const made: string[] = [];
  for (const { key } of apps) {
    const check = await service.post(key, "/identity/nin/verify", { ...aCheck(NIN), reference: "check-1" });
    made.push(check.headers.get("x-transaction-reference") ?? "");
    await service.post(key, "/identity/nin/verify", { ...aCheck("12345678900"), reference: "other" });
  }
  for (const { key } of apps.slice(0, 2)) made.push((await service.buy(key, PHONE, "order-1")).reference);
  made.push((await service.buy(apps[2]?.key ?? "", OPEN_PHONE, "order-1")).reference);
  for (const reference of made) await ageForSubjects(service, reference);
  before = await readBooks();
});
afterAll(() => service.stop());

const aCheck = (nin: string) => ({ nin, is_consent: true, purpose: "loan", consent_evidence: evidence });

const statementSchema = z.object({
  closing: z.number(),
  lines: z.array(z.looseObject({ description: z.nullable(z.string()) })),
});

/** Statements and exports of every account. */
const readBooks = async () => {
  const statements: z.output<typeof statementSchema>[] = [];
  const exports: string[] = [];
  for (const { account } of apps) {
    statements.push(statementSchema.parse(await service.adminJson(["wallet", "statement", account])));
    const period = ["--from", "2026-01-01T00:00:00Z", "--to", TO];
    exports.push((await service.admin(["consents", "export", "--account", account, ...period])).stdout);
  }
  return { statements, exports };
};

const reported = z.object({
  checks: z.array(z.looseObject({ account_name: z.string(), key_id: z.string(), reference: z.string() })),
  orders: z.array(z.looseObject({ account_name: z.string(), status: z.string() })),
});
const report = async (kind: string, number: string) =>
  reported.parse(await service.adminJson(["subjects", "report", kind, ...WHY], number));
const erase = (kind: string, number: string) => service.adminJson(["subjects", "erase", kind, ...WHY], number);

test("a report lists the checks of a person in all accounts, with key, purpose and evidence, and never the number", async () => {
  const { checks, orders } = await report("nin", NIN);
  expect(orders).toEqual([]);
  expect(checks.map(({ account_name }) => account_name).toSorted()).toEqual(["one", "three", "two"]);
  for (const check of checks) {
    expect(check).toMatchObject({ purpose: "loan", evidence, status: "success", operation: "nin_verification" });
    expect(apps.map(({ keyId }) => keyId)).toContain(check.key_id);
  }
  expect(JSON.stringify(checks)).not.toContain(NIN);
  expect(await report("bvn", NIN)).toMatchObject({ checks: [] });
  expect((await report("phone_number", "+234 803 111 2222")).orders).toHaveLength(2);
});

test("a dry run shows what an erasure would change, and changes nothing", async () => {
  const { stdout } = await service.admin(["subjects", "erase", "nin", ...WHY, "--dry-run"], NIN);
  expect(stdout).toMatch(/checks that are found by the number\s+3/);
  expect((await report("nin", NIN)).checks).toHaveLength(3);
});

test("a number on the command line, or in the reason, is refused, and is not repeated", async () => {
  const asArgument = await service.admin(["subjects", "report", NIN, ...WHY], NIN);
  const asReason = await service.admin(["subjects", "report", "nin", "--why", `of ${NIN}`], NIN);
  const wrong = await service.admin(["subjects", "report", "nin", ...WHY], "1234567891");
  for (const { code, stdout, stderr } of [asArgument, asReason, wrong]) {
    expect(code).toBe(2);
    expect(`${stdout}${stderr}`).not.toContain("1234567891");
  }
});

test("after an erasure nothing is found by the number, and what is open waits", async () => {
  expect(await erase("nin", NIN)).toMatchObject({ checks: 3, orders: 0, open: 0, result: "erased" });
  expect(await erase("phone_number", PHONE)).toMatchObject({ checks: 0, orders: 2, open: 0 });
  expect(await erase("phone_number", OPEN_PHONE)).toMatchObject({
    ...{ orders: 0, open: 1, result: "nothing_removed", fields: [] },
  });
  expect(await report("nin", NIN)).toMatchObject({ checks: [] });
  expect(await report("phone_number", PHONE)).toMatchObject({ orders: [] });
  expect((await report("phone_number", OPEN_PHONE)).orders).toHaveLength(1);
  expect((await report("nin", "12345678900")).checks).toEqual([]);
  const nothing = { checks: 0, orders: 0, open: 0, result: "nothing_found", fields: [] };
  expect(await erase("nin", NIN)).toMatchObject(nothing);
  const { stdout, code } = await service.admin(["subjects", "erase", "nin", ...WHY], NIN);
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/Nothing was found by this number, and nothing was removed\./),
  ]);
  expect(stdout).not.toMatch(/removed +nobody|fingerprint/);
  for (const table of ["ledger", "audit", "cache"] as const) {
    const { Items = [] } = await service.ledger.db.scan({ TableName: localTableNames[table] });
    expect(JSON.stringify(Items)).not.toMatch(new RegExp(`${NIN}|${PHONE.slice(1)}`));
  }
});

test("statements, sums and the exports of consents are as before, but for the masked number", async () => {
  const after = await readBooks();
  const masked = (text: string | null) => text?.replaceAll(PHONE, "*********22") ?? null;
  for (const [index, statement] of before.statements.entries()) {
    const lines = statement.lines.map((line) => ({ ...line, description: masked(line.description) }));
    expect(after.statements[index]).toEqual({ ...statement, lines });
  }
  const consentsIn = (file: string) =>
    file
      .split("\n")
      .filter((line) => line.includes('"previous"'))
      .map((line) => ({ ...JSON.parse(line), previous: "" }));
  expect(before.exports.flatMap(consentsIn)).toHaveLength(3);
  expect(after.exports.map(consentsIn)).toEqual(before.exports.map(consentsIn));
  for (const file of [...before.exports, ...after.exports]) {
    expect((await service.admin(["consents", "verify"], file)).code).toBe(0);
  }
  expect((await service.admin(["wallet", "verify", "--all"])).code).toBe(0);
  expect((await service.admin(["audit", "verify"])).code).toBe(0);
});

test("the same purchase is still a replay, and an erased check is 422 reference_reused; neither is charged", async () => {
  const [{ account, key } = { account: "", key: "" }] = apps;
  const balance = async () =>
    z.object({ balance: z.number() }).parse(await service.adminJson(["accounts", "show", account])).balance;
  const had = await balance();
  const order = { network: "mtn", amount: 500, phone_number: PHONE, reference: "order-1" };
  const replay = await service.post(key, "/vtu/airtime/purchase", order);
  expect([replay.status, replay.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
  expect(await replay.json()).toMatchObject({
    data: { transaction: { status: "success", phone_number: "*********22" } },
  });
  const check = await service.post(key, "/identity/nin/verify", { ...aCheck(NIN), reference: "check-1" });
  expect([check.status, check.headers.get("x-error-code")]).toEqual([422, "reference_reused"]);
  expect(await balance()).toBe(had);
});

test("the audit log says who asked and erased, for which request, and not about whom", async () => {
  const { stdout } = await service.admin(["audit"]);
  expect(stdout).toMatch(/subjects report.*request 2026-014/);
  expect(stdout).toMatch(/subjects erase +checks=3.*request 2026-014/);
  for (const number of [NIN, PHONE, OPEN_PHONE]) expect(stdout).not.toContain(number.slice(1));
});
