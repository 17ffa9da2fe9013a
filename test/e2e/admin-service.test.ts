import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import * as z from "#zod";
import { hashApiKey } from "../../shared/access/api-key.ts";
import { runs } from "../../shared/actions/runs.ts";
import { operationPath } from "../../shared/contract/actions/actions.ts";
import { MINUTE_MS } from "../../shared/contract/values/durations.ts";
import { readAudit, recordAudit } from "../../shared/ledger/audit.ts";
import { ACCOUNTS_LIST, accountPk } from "../../shared/ledger/schema.ts";
import { type OnOrOff, writePurchasesSwitch } from "../../shared/orders/purchases-switch.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { upstreamKeyId } from "../../shared/upstream/key-pool.ts";
import { loadFunctions } from "../../tools/local/functions.ts";
import { setEnvironment } from "../../tools/local/local-aws.ts";
import { adminDetails, adminFileOf } from "../../tools/local/service-file.ts";
import { localTableNames } from "../../tools/local/tables.ts";
import { anApiEvent } from "../builders/aws/api-event.ts";
import { copyTable } from "../builders/dynamodb/copy-table.ts";
import { type AdminRun, runCommand, startOperatedService } from "../builders/service/admin.ts";

/**
 * Goal: each command about the service itself (catalog, secrets, doctor), and each that is used after a restore, does what
 * its help says. test/faults/restore.test.ts runs the procedure.
 */
const service = await startOperatedService();
afterAll(() => service.stop());

const admin = (...args: readonly string[]): Promise<AdminRun> => service.admin(args);

const plan = { id: 101, network_id: 1, name: "1GB", price: 500, validity: "30 days" };
/** The upstream's catalog from now on; the simulator's own is served again after the test. */
const setCatalog = async (data_plans: readonly unknown[]): Promise<void> => {
  const data = { networks: [{ id: 1, name: "MTN", code: "mtn" }], data_plans };
  await service.controlSimulator("PUT", "catalog", { status: true, message: "OK", data });
};
const restoreCatalog = () =>
  onTestFinished(async () => {
    await service.controlSimulator("DELETE", "catalog");
    expect(await service.adminJson(["catalog", "refresh"])).toMatchObject({ kind: "replaced", plans: 30 });
  });

test("a catalog with less than half of the plans is refused, compared by catalog diff, and served by catalog accept", async () => {
  restoreCatalog();
  await setCatalog([{ ...plan, price: 510 }]);
  const refused = await admin("catalog", "refresh");
  expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining("halved")]);
  const diff = (await admin("catalog", "diff")).stdout;
  expect(diff).toMatch(/price +101 +1 +1GB +510\.00 +500\.00/);
  expect(diff).toMatch(/network gone +- +3 +Glo \(glo\)/);
  expect((await admin("catalog", "show")).stdout).toContain("Refused (catalog accept serves it)");
  expect(await service.adminJson(["catalog", "accept"])).toEqual({ kind: "accepted", plans: 1 });
  expect((await admin("catalog", "accept")).code).toBe(2);
  await service.controlSimulator("DELETE", "catalog");
  expect((await admin("catalog", "diff")).stdout).toMatch(/new network +- +3 +Glo \(glo\)/);
});

test("an invalid plan is dropped from the catalog, and catalog show, catalog diff and doctor say so", async () => {
  restoreCatalog();
  const plans = Array.from({ length: 30 }, (_, index) => ({ ...plan, id: 101 + index }));
  await setCatalog([...plans, { ...plan, id: 900, price: 0 }]);
  expect(await service.adminJson(["catalog", "refresh"])).toEqual({ kind: "replaced", plans: 30 });
  expect((await admin("catalog", "show")).stdout).toMatch(/not served\)\n.*\n +plan +900 +price/);
  expect((await admin("catalog", "diff")).stdout).toMatch(/Dropped \(invalid\)\n.*\n +plan +900 +price/);
  expect((await admin("doctor")).stdout).toMatch(/catalog +look .*invalid entries dropped: 1/);
});

test("doctor finds nothing wrong with a new service", async () => {
  const { code, stdout } = await admin("doctor");
  expect([code, stdout]).toEqual([0, expect.not.stringContaining("wrong")]);
  for (const check of [
    "upstream key",
    "address",
    "catalog",
    "reference key",
    "upstream's webhook",
    "limits",
    "dead letters",
  ]) {
    expect(stdout).toContain(check);
  }
});

/** Sets the upstream's signing key. */
const setHmacKey = (value: string): Promise<AdminRun> =>
  service.admin(["secrets", "set", "upstream-webhook-hmac", "--why", "new"], `${value}\n`);
const restoreHmacKey = () =>
  onTestFinished(async () => void (await setHmacKey(service.details.upstream.webhook_secret)));

test("secrets set reads the value from standard input and keeps it out of the audit log; events are then signed with it", async () => {
  restoreHmacKey();
  const hmacKey = "k".repeat(32);
  expect((await setHmacKey(hmacKey)).code).toBe(0);
  expect((await setHmacKey(hmacKey)).stdout).toBe(
    "upstream-webhook-hmac has this value already: nothing was changed.\n",
  );
  expect((await admin("doctor")).stdout).toMatch(/upstream's webhook +ok +accepts signed events/);
  const { stdout } = await admin("audit");
  expect(stdout).toMatch(/secrets set +name=upstream-webhook-hmac +new/);
  expect(stdout).not.toContain(hmacKey);
});

/** The text of the secret as it is stored. */
const storedUpstreamKey = (): string =>
  z
    .object({ "upstream-key": z.string() })
    .parse(JSON.parse(readFileSync(join(service.folder, "data", "secrets.json"), "utf8")))["upstream-key"];
const setUpstreamKey = (text: string) => service.admin(["secrets", "set", "upstream-key", "--json"], text);

test("secrets set upstream-key takes several keys, one per line, and doctor names a rejected one by its id", async () => {
  const accepted = storedUpstreamKey();
  onTestFinished(async () => void (await setUpstreamKey(accepted)));
  const rejected = "live_a_key_that_the_upstream_rejects";
  const set = await setUpstreamKey(`${accepted} \r\n\r\n${rejected}\r\n`);
  const key_ids = [upstreamKeyId(accepted), upstreamKeyId(rejected)];
  expect(JSON.parse(set.stdout)).toEqual({ name: "upstream-key", changed: true, key_ids });
  expect(storedUpstreamKey()).toBe(`${accepted}\n${rejected}`);

  const { code, stdout } = await admin("doctor");
  const found = new RegExp(`upstream key +look +2 keys are set; key ${key_ids[1]} is refused \\(401\\)`);
  expect([code, stdout]).toEqual([0, expect.stringMatching(found)]);
  await setUpstreamKey(`${rejected}\n${rejected}_too`);
  expect((await admin("doctor")).stdout).toMatch(
    /upstream key +wrong +2 keys are set; key .* refused .*; key .* refused/,
  );
  expect((await admin("audit")).stdout).not.toContain(rejected);
});

test.each([
  ["live_a\nlive b", "upstream-key must have one key on each line, of printable ASCII without spaces: key 2 is not."],
  ["live_\u200ba", "upstream-key must have one key on each line, of printable ASCII without spaces: key 1 is not."],
  ["live_a\nlive_b\nlive_a", "upstream-key must have each key once: keys 1 and 3 are the same."],
])("secrets set upstream-key refuses %j, changes nothing and does not print it", async (text, message) => {
  const before = storedUpstreamKey();
  const { code, stdout, stderr } = await setUpstreamKey(text);
  expect([code, JSON.parse(stdout), stderr]).toEqual([2, { error: { kind: "refused", message } }, ""]);
  expect(storedUpstreamKey()).toBe(before);
});

test("secrets set upstream-test-key refuses a live key, so that the probe can never have one", async () => {
  const { code, stdout } = await service.admin(["secrets", "set", "upstream-test-key", "--json"], "live_abc");
  const message = "upstream-test-key must begin with test_.";
  expect([code, JSON.parse(stdout)]).toEqual([2, { error: { kind: "refused", message } }]);
});

test("upstream probe prints what the simulator accepts, and finds that the local service's profile fits it", async () => {
  const { code, stdout } = await admin("upstream", "probe");
  expect(stdout).toMatch(/airtime with our reference +accepted +200 +delivered/);
  expect(stdout).toContain("Nothing was found.");
  expect(stdout).toContain('The answers speak for upstreamProfile: {"reference":"all","limits":{"vtu":600');
  expect(code).toBe(0);
});

test("secrets rotate webhook-token prints the new URL to standard error before it is set, and then to standard output", async () => {
  const rotated = await admin("secrets", "rotate", "webhook-token");
  const [, url] = /^Setting the new URL for the upstream: (http\S+)\n$/.exec(rotated.stderr) ?? [];
  expect(rotated.code).toBe(0);
  expect(url).not.toBe(service.details.upstream.webhook_url);
  expect(rotated.stdout).toContain(`Give this new URL to the upstream: ${url}\n`);
  const json = z.object({ webhook_url: z.string() });
  const again = json.parse(await service.adminJson(["secrets", "rotate", "webhook-token"]));
  expect(again.webhook_url).not.toBe(url);
  expect((await admin("doctor")).stdout).toMatch(/upstream's webhook +ok +accepts signed events/);
});

test("accounts show has the latest entries of a long audit log, and audit all of them, or those since a time", async () => {
  const { account } = await service.newApp();
  // Younger than what has to be attested, which the verification of all logs reports.
  const firstMs = Date.now() - MINUTE_MS;
  const timeMs = (index: number): number => firstMs + Math.floor(index / 2) * 1_000;
  for (let index = 0; index < 60; index += 1) {
    const clock = () => timeMs(index);
    const entry = { audit_log: account, by: "ada", action: "test", details: { index } };
    await recordAudit({ ...service.ledger, clock }, entry);
  }
  const ofCommand = async (...command: readonly string[]) => {
    const { acts } = acted.parse(await service.adminJson([...command]));
    return acts.flatMap(({ action, details }) => (action === "test" ? [details.index] : []));
  };
  const all = Array.from({ length: 60 }, (_, index) => index);
  const newest = await ofCommand("accounts", "show", account);
  expect(newest.length).toBeLessThan(51);
  expect(newest).toEqual(all.slice(-newest.length));
  expect((await admin("accounts", "show", account)).stdout).toContain("Audit log, its latest entries");
  expect(await ofCommand("audit", account)).toEqual(all);
  expect(await ofCommand("audit", account, "--from", isoTime(timeMs(56)))).toEqual([56, 57, 58, 59]);
});
const acted = z.object({
  acts: z.array(z.object({ action: z.string(), details: z.record(z.string(), z.unknown()) })),
});

test("audit verify counts the entries, and exits with 1 and the place of one that was changed by hand", async () => {
  const { account } = await service.newApp();
  await service.adminJson(["accounts", "restrict", account, "--why", "lost laptop"]);
  const [entry] = await readAudit(service.ledger, account);
  if (entry === undefined) throw new Error("The restriction has no entry");
  const whole = await admin("audit", "verify");
  expect([whole.code, whole.stdout]).toEqual([0, expect.stringMatching(/^[1-9]\d* audit entries: none was changed/)]);

  const edit = (why: string) =>
    service.ledger.db.update({
      TableName: service.ledger.auditTable,
      Key: { pk: entry.pk, sequence: entry.sequence },
      UpdateExpression: "SET why = :why",
      ExpressionAttributeValues: { ":why": why },
    });
  onTestFinished(async () => void (await edit("lost laptop")));
  await edit("on request");
  const expectFound = async (): Promise<void> => {
    const { code, stdout } = await admin("audit", "verify");
    expect([code, stdout]).toEqual([1, expect.stringMatching(new RegExp(`${account} +changed +${entry.sequence}`))]);
  };
  await expectFound();
  // Who may write accounts can take one out of the list of accounts.
  const setList = (list: string) =>
    service.ledger.db.update({
      TableName: service.ledger.table,
      Key: { pk: accountPk(account) },
      UpdateExpression: "SET list_key = :list",
      ExpressionAttributeValues: { ":list": list },
    });
  onTestFinished(async () => void (await setList(ACCOUNTS_LIST)));
  await setList("hidden");
  await expectFound();
});

const switchState = z.object({ purchases: z.enum(["on", "off"]) });

test("purchases off works without a ledger and an audit table, and says that the audit entry could not be written", async () => {
  onTestFinished(async () => void (await service.adminJson(["purchases", "on"])));
  const restore = setEnvironment({ LEDGER_TABLE: "gone-ledger", AUDIT_TABLE: "gone-audit" });
  const invoke = await loadFunctions(["console-api"], new URL("../../functions/", import.meta.url));
  restore();
  const send = async (name: "purchases off" | "purchases on") => {
    const event = anApiEvent({
      method: "POST",
      path: operationPath("operator", name),
      pathParameters: { role: "operator", path: operationPath("operator", name).replace("/operations/operator/", "") },
      body: JSON.stringify({ why: "the tables were deleted" }),
    });
    const authorizer = { iam: { userArn: "arn:aws:iam::000000000000:user/local" } };
    const requestContext = { ...event.requestContext, authorizer };
    return z.object({ body: z.string() }).parse(await invoke("console-api", { ...event, requestContext })).body;
  };
  expect(await send("purchases off")).toContain("audit_error");
  expect(switchState.parse(await service.adminJson(["purchases", "show"])).purchases).toBe("off");
  await send("purchases on");
  expect(switchState.parse(await service.adminJson(["purchases", "show"])).purchases).toBe("off");
});

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

test("keys revoke shows the key and its account by one request, however many accounts there are, or that none has it", async () => {
  await service.newApp();
  const { account, keyId } = await service.newApp("leaky");
  await service.newApp();
  const shown = async (key: string, ...more: string[]) => {
    const fetched = vi.spyOn(globalThis, "fetch");
    try {
      const { stdout } = await service.admin(["keys", "revoke", key, "--dry-run", ...more]);
      return { stdout, requests: fetched.mock.calls.length };
    } finally {
      fetched.mockRestore();
    }
  };
  const line = new RegExp(`^live key ${keyId} of ${account} \\(leaky\\) +active +revoked$`, "m");
  expect(await shown(keyId)).toEqual({ stdout: expect.stringMatching(line), requests: 1 });
  expect(await shown(keyId, "--direct")).toEqual({ stdout: expect.stringMatching(line), requests: 0 });
  const unknown = expect.stringMatching(
    /^key key_0123456789abcdef01, which no account lists as usable +unknown +revoked, if/m,
  );
  for (const more of [[], ["--direct"]]) {
    expect(await shown("key_0123456789abcdef01", ...more)).toMatchObject({ stdout: unknown });
  }
});

test("keys revoke shows the key although a stage of an earlier release answers with all of them", async () => {
  await service.newApp("first");
  const { account, keyId } = await service.newApp("leaky");
  const review = runs["access review"];
  const reviewed = vi.spyOn(runs, "access review").mockImplementation((context) => review(context, {}));
  try {
    const { stdout } = await service.admin(["keys", "revoke", keyId, "--dry-run", "--direct"]);
    expect(stdout).toMatch(new RegExp(`^live key ${keyId} of ${account} \\(leaky\\) +active +revoked$`, "m"));
  } finally {
    reviewed.mockRestore();
  }
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
  expect(await service.admin(["wallet", "verify", account])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("found a difference; reading again in 5 s"),
  });
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
    `${localTableNames.ledger} has 1 transaction that ${restored} lacks. Are --from and --to swapped?`,
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
