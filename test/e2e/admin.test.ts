import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "#zod";
import { catalogSchema } from "../../shared/contract/catalog.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { eventually } from "../builders/run/eventually.ts";
import {
  type AdminRun,
  ageTransaction,
  bankReference,
  type OperatedService,
  runCommand,
  startOperatedService,
} from "../builders/service/admin.ts";
import { type Receiver, startReceiver } from "../builders/webhooks/receiver.ts";

/**
 * Goal: the commands about accounts and transactions work on a service that runs. What each does is proved where its action
 * is. Every test has its own accounts.
 */
let service: OperatedService;
let receiver: Receiver;
beforeAll(async () => {
  [service, receiver] = await Promise.all([startOperatedService(), startReceiver()]);
});
afterAll(async () => {
  await Promise.all([service.stop(), receiver.stop()]);
});

const admin = (...args: readonly string[]): Promise<AdminRun> => service.admin(args);
const adminJson = async <Schema extends z.ZodMiniType>(schema: Schema, ...args: readonly string[]) =>
  schema.parse(await service.adminJson(args));

const balance = z.object({ balance: z.number() });

test("deliveries lists a delivered webhook; deliveries replay and announce resend it under the same webhook id", async () => {
  const { account, key } = await service.newApp();
  await admin("webhook", "set", account, receiver.url);
  const { reference } = await service.buy(key, "08031234567");
  await eventually(async () => expect((await admin("deliveries", "show", reference)).stdout).toMatch(/delivered +200/));
  expect((await admin("deliveries", "list", account)).stdout).toContain(reference);
  await service.adminJson(["deliveries", "replay", reference]);
  const { stdout, stderr } = await admin("announce", "--from", isoTime(Date.now() - 60_000), "--name", "resend-1");
  expect(stderr).toContain("If it is interrupted, run it again with --name resend-1");
  expect(stdout).toMatch(/final transactions +[1-9]/);
  expect(stdout).toContain("Webhooks already sent under this name are not sent again.");
  await eventually(() => {
    const copies = receiver.received.filter(({ body }) => body.includes(reference));
    expect(copies).toHaveLength(3);
    expect(new Set(copies.map(({ headers }) => headers.id)).size).toBe(1);
  });
});

test("an account that was restricted gets 403 and is shown with its owners, its keys and who restricted it, and why; to support without keys", async () => {
  const { account, key, keyId } = await service.newApp("reports");
  await admin("accounts", "owners", account, "--set", "email:Ada@example.com", "group:Checkout team");
  await admin("accounts", "restrict", account, "--why", "unpaid", "--by", "ada");
  expect((await service.buy(key, "08031234567")).status).toBe(403);
  const [list, shown] = [await admin("accounts", "list"), await admin("accounts", "show", account)];
  expect(list.stdout).toMatch(new RegExp(`${account} +reports +restricted +5,000\\.00`));
  expect(shown.stdout).toMatch(/owners +email:ada@example.com, group:Checkout team\n/);
  expect(shown.stdout).toContain(keyId);
  expect(shown.stdout).not.toContain(key);
  expect(shown.stdout).toMatch(/says: ada\) +accounts restrict +- +unpaid/);
  const forSupport = await admin("--role", "support", "accounts", "show", account);
  expect(forSupport.stdout).toMatch(/owners +email:ada@example.com, group:Checkout team\n/);
  expect(forSupport.stdout).not.toMatch(new RegExp(`${keyId}|127\\.0\\.0\\.1|Audit log`));
});

test("wallet fund and wallet adjust with the same --id twice record one entry each, which the statement lists", async () => {
  const { account } = await service.newApp();
  const fund = ["wallet", "fund", account, "5000", "--id", ` ${bankReference(account)}`];
  const adjust = ["wallet", "adjust", account, "-250.50", "--id", "case-1", "--why", "=refunded twice"];
  expect(await adminJson(balance, ...fund)).toEqual({ balance: 5_000 });
  for (const run of [1, 2]) expect(await adminJson(balance, ...adjust), `run ${run}`).toEqual({ balance: 4_749.5 });
  const csv = (await admin("wallet", "statement", account, "--csv")).stdout.split("\r\n");
  expect(csv).toHaveLength(5);
  expect(csv[0]).toBe("account_id,at,local_time,kind,id,caller_reference,network,description,effect,balance");
  expect(csv[1]).toBe(`${account},,,opening_balance,,,,,,0.00`);
  expect(csv[2]).toMatch(
    new RegExp(`^${account},[^,]+,[^,]+,funding,${bankReference(account)},,,,5000\\.00,5000\\.00$`),
  );
  expect(csv[3]).toMatch(/^acc_\w+,[^,]+,[^,]+\+01:00,adjustment,case-1,,,'=refunded twice,-250\.50,4749\.50$/);
  expect(csv[4]).toBe(`${account},,,closing_balance,,,,,,4749.50\n`);
  expect((await admin("wallet", "statement", account, "--from", "2020-01-01")).stdout).toContain("4,749.50");
  const audit = (await admin("audit", account)).stdout.match(/wallet adjust .*/g);
  expect(audit).toEqual([
    expect.stringMatching(/=refunded twice {2}arn:aws:iam::000000000000:user\/local {2}127\.0\.0\.1$/),
  ]);
});

test("an open transaction is listed by --open, by --stuck after 16 minutes, and shows who resolved it in its history", async () => {
  const { key } = await service.newApp();
  const { reference } = await service.buy(key, "08000000004");
  expect((await admin("transactions", "list", "--open", "--by", "Bola")).stdout).toContain(reference);
  // It shows phone numbers.
  expect((await admin("audit")).stdout).toMatch(/\(says: Bola\) +transactions open/);
  expect((await admin("transactions", "list", "--stuck")).stdout).not.toContain(reference);
  await ageTransaction(service, reference, 16 * 60_000);
  expect((await admin("transactions", "list", "--stuck")).stdout).toContain(reference);
  const open = await admin("transactions", "show", reference);
  expect(open.stdout).toMatch(/Until when to wait +20\S+ That time is over: .* asked for it within a minute of 20/);
  await service.adminJson(["transactions", "resolve", reference, "failed", "--why", "not in their list"]);
  const { stdout } = await admin("transactions", "show", reference);
  expect(stdout).toMatch(/^ *amount +500\.00$/m);
  expect(stdout).toMatch(/Debited +NGN 500\.00/);
  expect(stdout).toMatch(/Resolved +.* resolved the order .* as failed, .*"not in their list"/);
});

test("webhook test of an endpoint that refuses connections exits with 1 and prints why", async () => {
  const { account } = await service.newApp();
  const closed = await startReceiver();
  await admin("webhook", "set", account, closed.url);
  await closed.stop();
  const failed = await admin("webhook", "test", account);
  expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining("ECONNREFUSED")]);
});

test("consents export prints a chain that consents verify accepts with the service only, and no chain that another person wrote", async () => {
  const { account, key } = await service.newApp();
  const response = await service.verifyNin(key, { nin: "31415926535", purpose: "loan" });
  const reference = response.headers.get("x-transaction-reference") ?? "";
  await ageTransaction(service, reference, 3_600_000);
  const { stdout: file } = await admin("consents", "export", "--account", account, "--by", "ada");
  expect(file.trimEnd().split("\n")).toEqual([
    expect.any(String),
    expect.stringContaining(reference),
    expect.any(String),
  ]);

  const verify = (text: string) => service.admin(["consents", "verify"], text);
  expect(await verify(file)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("the file that Command line (says: ada) exported"),
  });
  expect(await service.adminJson(["consents", "verify"], file)).toMatchObject({
    ok: true,
    account,
    count: 1,
    compared: true,
    recorded: { exported_by: "Command line (says: ada)" },
  });
  // A whole chain that another person wrote.
  const { stdout: empty } = await admin("consents", "export", "--account", account, "--to", "2020-01-01");
  const forged = empty.replace("2020-01-01", "2020-01-02");
  const [header = ""] = forged.split("\n");
  const hash = createHash("sha256").update(header).digest("hex");
  const forgery = await verify(`${header}\n{"count":0,"hash":"${hash}"}\n`);
  expect(forgery.code).toBe(1);
  expect(forgery.stdout).toContain("the audit log has no export with this count and hash");

  const without = await runCommand(["consents", "verify"], {
    serviceFile: "/no/such/service.json",
    stdin: file,
  });
  // Otherwise a forged file would pass wherever credentials have expired.
  expect(without).toMatchObject({ code: 1, stdout: expect.stringContaining("were not compared with the audit log") });
});

test("catalog refresh sends a change to a caller that chose catalog.updated", async () => {
  const { account, key } = await service.newApp();
  await service.adminJson(["webhook", "set", account, receiver.url, "--events", "catalog.updated"]);
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${service.details.base_url}/vtu/data`, { headers });
  const { data } = z.object({ data: catalogSchema }).parse(await response.json());
  const data_plans = data.data_plans.map((plan, index) => (index === 0 ? { ...plan, price: plan.price + 10 } : plan));
  const changed = { status: true, message: "OK", data: { ...data, data_plans } };
  await service.controlSimulator("PUT", "catalog", changed);
  await service.adminJson(["catalog", "refresh"]);
  const isUpdate = ({ body }: { readonly body: string }) => body.startsWith('{"event":"catalog.updated"');
  await eventually(() => expect(receiver.received.filter(isUpdate)).toHaveLength(1));
});

/** Last: the upstream refuses orders from then on. */
test("transactions list --waiting lists the orders that wait, of all accounts or one", async () => {
  const [one, other] = [await service.newApp(), await service.newApp()];
  await service.refuseByLimit();
  const bought: string[] = [];
  for (const { key } of [one, other]) bought.push((await service.buy(key, "08031234567")).reference);
  const { stdout } = await admin("transactions", "list", "--waiting");
  expect(stdout).toMatch(new RegExp(`${bought[0]} +${one.account}[\\s\\S]*${bought[1]} +${other.account}`));
  const listed = await service.adminJson(["transactions", "list", "--waiting", "--account", other.account]);
  expect(listed).toMatchObject({ orders: [{ reference: bought[1] }] });
});
