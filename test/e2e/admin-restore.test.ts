import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import * as z from "#zod";
import { hashApiKey } from "../../shared/access/api-key.ts";
import { accountPk } from "../../shared/ledger/schema.ts";
import { type OnOrOff, writePurchasesSwitch } from "../../shared/orders/purchases-switch.ts";
import { adminDetails, adminFileOf } from "../../tools/local/service-file.ts";
import { localTableNames } from "../../tools/local/tables.ts";
import { type AdminRun, type OperatedService, runCommand, startOperatedService } from "../builders/admin.ts";
import { copyTable } from "../builders/copy-table.ts";

/** Goal: each command used after a restore does what its help says. test/faults/restore.test.ts runs the procedure. */
let service: OperatedService;
beforeAll(async () => {
  service = await startOperatedService();
});
afterAll(() => service.stop());

/** Resolves with a function that puts the item back as it is now. */
const saveItem = async (TableName: string, pk: string) => {
  const { db } = service.ledger;
  const { Item } = await db.get({ TableName, Key: { pk }, ConsistentRead: true });
  return () => db.put({ TableName, Item });
};
const isAdmitted = async (key: string): Promise<boolean> => {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`${service.details.base_url}/wallet`, { headers })).status === 200;
};

test("keys revoke revokes a key that a restored ledger does not list, and the audit log of its account says so", async () => {
  const { account } = await service.newApp();
  const restore = await saveItem(localTableNames.ledger, accountPk(account));
  const newKey = z.object({ key: z.string(), key_id: z.string() });
  const { key, key_id } = newKey.parse(await service.adminJson(["keys", "create", account, "--mode", "live"]));
  await restore();
  expect(await isAdmitted(key)).toBe(true);
  const revoked = await service.adminJson(["keys", "revoke", key_id, "--why", "leaked"]);
  expect(revoked).toEqual({ account_id: account, key_id, status: "revoked" });
  expect(await isAdmitted(key)).toBe(false);
  expect((await service.admin(["audit", account])).stdout).toMatch(new RegExp(`keys revoke +key_id=${key_id} +leaked`));
  expect((await service.admin(["keys", "list", account])).stdout).toMatch(new RegExp(`${key_id} .* live +revoked`));
});

test("keys revoke revokes a key whose account is not in the ledger", async () => {
  const { account, key, keyId } = await service.newApp();
  const restore = await saveItem(localTableNames.ledger, accountPk(account));
  onTestFinished(async () => void (await restore()));
  await service.ledger.db.delete({ TableName: localTableNames.ledger, Key: { pk: accountPk(account) } });
  expect(await service.adminJson(["keys", "revoke", keyId])).toMatchObject({ account_id: account, key_id: keyId });
  expect(await isAdmitted(key)).toBe(false);
});

test("keys reconcile prints its changes in a dry run, makes them once, and writes them to the audit log", async () => {
  const { account, key, keyId } = await service.newApp();
  await service.ledger.db.delete({ TableName: localTableNames.access, Key: { pk: hashApiKey(key) } });
  const found = { account_id: account, key_id: keyId, found: "key_item_missing", result: "active" };
  const report = z.object({ dry_run: z.literal(true), findings: z.array(z.looseObject({ account_id: z.string() })) });
  const { findings } = report.parse(await service.adminJson(["keys", "reconcile", "--dry-run"]));
  // Other tests of this file leave findings too.
  expect(findings.filter(({ account_id }) => account_id === account)).toEqual([found]);
  expect(await isAdmitted(key)).toBe(false);
  const { stdout } = await service.admin(["keys", "reconcile", "--why", "after a restore"]);
  expect(stdout).toMatch(new RegExp(`${account} +${keyId} +key_item_missing +active`));
  expect(await isAdmitted(key)).toBe(true);
  expect((await service.admin(["keys", "reconcile"])).stdout).toBe("The ledger and the access table agree.\n");
  expect((await service.admin(["audit", account])).stdout).toMatch(/keys reconcile +- +after a restore/);
});

test("wallet verify --all exits with 1 and prints the difference of a wallet that was restored without a funding", async () => {
  const { account } = await service.newApp();
  const pk = `wallet#${account}`;
  const all = await service.admin(["wallet", "verify", "--all"]);
  expect([all.code, all.stdout]).toEqual([0, expect.stringMatching(new RegExp(`${account} +5,000\\.00`))]);
  const restore = await saveItem(localTableNames.ledger, pk);
  await service.adminJson(["wallet", "fund", account, "50", "--id", "bank-2"]);
  const repair = await saveItem(localTableNames.ledger, pk);
  onTestFinished(async () => void (await repair()));
  await restore();
  const differing = await service.admin(["wallet", "verify", "--all"]);
  expect([differing.code, differing.stdout]).toEqual([
    1,
    expect.stringMatching(new RegExp(`${account} +5,000\\.00 +5,050\\.00 +-50\\.00`)),
  ]);
});

/** Runs the command on a service whose purchases and workers are off. */
const carryOver = (...args: readonly string[]): Promise<AdminRun> =>
  runWith({ purchases: "off", workers: "off" }, "ledger", "carry-over", ...args);

const runWith = async (
  { purchases, workers }: { readonly purchases: OnOrOff; readonly workers: OnOrOff },
  ...args: readonly string[]
): Promise<AdminRun> => {
  const store = { db: service.ledger.db, table: localTableNames.cache, initially: "on" } as const;
  await writePurchasesSwitch(store, { purchases, since: "2026-11-22T09:00:00.000Z", by: "ada", why: "ticket 97" });
  const details = adminDetails.parse(JSON.parse(readFileSync(adminFileOf(service.serviceFile), "utf8")));
  const serviceFile = `${service.folder}/with-settings.json`;
  const environment = { ...details.environment, WORKERS: workers };
  writeFileSync(adminFileOf(serviceFile), JSON.stringify({ ...details, environment }));
  return runCommand(args, { serviceFile });
};

const carryOverReport = z.object({
  items: z.object({ transactions: z.looseObject({ copied: z.int(), only_in_to: z.int() }) }),
  notes: z.array(z.string()),
});

test("a carry-over with swapped tables prints how many transactions only --to has, and asks about the swap", async () => {
  const { account, key } = await service.newApp();
  const { db } = service.ledger;
  const restored = await copyTable(db, "ledger", localTableNames.ledger);
  await service.buy(key, "08031234567");
  const swapped = await carryOver("--from", restored, "--to", localTableNames.ledger, "--dry-run", "--json");
  const { items, notes } = carryOverReport.parse(JSON.parse(swapped.stdout));
  expect(items.transactions).toMatchObject({ copied: 0, only_in_to: 1 });
  expect(notes).toEqual([
    `${localTableNames.ledger} has 1 transactions that ${restored} lacks. Are --from and --to swapped?`,
  ]);
  const right = await carryOver("--from", localTableNames.ledger, "--to", restored, "--why", "restore drill", "--json");
  const carried = carryOverReport.parse(JSON.parse(right.stdout));
  expect(carried.items.transactions).toMatchObject({ copied: 1, only_in_to: 0 });
  expect(carried.notes).toEqual([]);
  expect(right.stdout).toContain(account);
});

test.each([
  ["on", "on", 0, "ok", /, workers on +-$/],
  [
    "off",
    "on",
    0,
    "look",
    /, workers on: new orders are refused \(503\) +Once the reason is gone, run purchases on: "Stop selling" in docs\/runbook\.md$/,
  ],
  ["off", "off", 0, "look", /, workers off: .* webhooks wait +Set workers .* and deploy; .*\. Then run purchases on$/],
  ["on", "off", 1, "wrong", /, workers off: .* webhooks wait +Set workers .* and deploy; .* are done$/],
] as const)(
  "doctor of a service with purchases %s and workers %s exits with %i, and says since when, by whom and why",
  async (purchases, workers, code, state, end) => {
    const { code: exitCode, stdout } = await runWith({ purchases, workers }, "doctor");
    const line = stdout.split("\n").find((text) => text.startsWith("selling")) ?? "";
    expect([exitCode, line]).toEqual([code, expect.stringMatching(end)]);
    expect(line).toMatch(new RegExp(`selling +${state} +purchases ${purchases} since \\S+Z by ada \\(ticket 97\\)`));
  },
);

test("a carry-over is refused if --why is missing, a table does not exist, or both tables are the same", async () => {
  for (const [args, message] of [
    [["--from", "nowhere"], "--why is required unless --dry-run.\n"],
    [["--from", "nowhere", "--dry-run"], "There is no table nowhere.\n"],
    [["--from", "nowhere", "--why", "drill"], "There is no table nowhere.\n"],
    [["--from", localTableNames.ledger, "--to", "nowhere", "--dry-run"], "There is no table nowhere.\n"],
    [
      ["--from", localTableNames.ledger, "--dry-run"],
      `--from and --to are both ${localTableNames.ledger}. They must be the old ledger and the restored one.\n`,
    ],
  ] as const) {
    expect(await carryOver(...args)).toMatchObject({ code: 2, stderr: message });
  }
});
