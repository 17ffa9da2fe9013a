import { createHash } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "#zod";
import { koboFromNaira } from "../../shared/contract/money.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { recordEvent } from "../../shared/upstream-events/stored-event.ts";
import {
  type AdminRun,
  ageTransaction,
  bankReference,
  type OperatedService,
  runCommand,
  startOperatedService,
} from "../builders/admin.ts";
import { eventually } from "../builders/eventually.ts";
import { type Receiver, standardHeaders, startReceiver } from "../builders/receiver.ts";

/** Goal: each command about accounts and transactions does what its help says. Every test has its own accounts. */
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

const accountId = z.object({ account_id: z.string() });
const newKey = z.object({ key_id: z.string(), key: z.string() });
const resolved = z.object({ status: z.string(), refunded: z.number() });
const balance = z.object({ balance: z.number() });
const eventList = z.object({
  events: z.array(z.looseObject({ event: z.string(), reason: z.string(), upstream_reference: z.nullable(z.string()) })),
});

/** Waits for the event that is listed with this transaction. */
const eventAbout = (reference: string) =>
  eventually(async () => {
    const { events } = await adminJson(eventList, "events", "list");
    const found = events.find(({ transaction }) => transaction === reference);
    if (found === undefined) throw new Error(`No event about ${reference} is listed`);
    return found;
  });

/** Puts an airtime event into the list, and resolves with its id. */
const putEvent = async (
  upstreamReference: string,
  amountNaira: number,
  reason: "no_candidate" | "several_candidates",
): Promise<string> => {
  const amount_kobo = koboFromNaira(amountNaira);
  const event = { kind: "event", mode: "live", status: "success", type: "airtime" } as const;
  const received = { received_at: isoTime(Date.now()), reference: upstreamReference, amount_kobo };
  await recordEvent(service.ledger, { ...event, ...received }, reason);
  const { events } = await adminJson(eventList, "events", "list");
  const listed = events.find(({ upstream_reference }) => upstream_reference === upstreamReference);
  expect(listed?.reason).toBe(reason);
  return listed?.event ?? "";
};

test("a caller that was onboarded with 5 commands buys and gets a webhook whose signature verifies", async () => {
  const { account_id: account } = await adminJson(accountId, "accounts", "create", "checkout");
  await adminJson(accountId, "ips", "allow", account, "127.0.0.1");
  const { key } = await adminJson(newKey, "keys", "create", account, "--mode", "live");
  await adminJson(balance, "wallet", "fund", account, "5000", "--id", "bank-1");
  const set = await adminJson(z.object({ webhook_secret: z.string() }), "webhook", "set", account, receiver.url);
  const { reference } = await service.buy(key, "08031234567");
  const [webhook] = await eventually(() => {
    const found = receiver.received.filter(({ body }) => body.includes(reference));
    expect(found).toHaveLength(1);
    return found;
  });
  if (webhook === undefined) throw new Error("Nothing was received");
  expect(new Webhook(set.webhook_secret).verify(webhook.body, standardHeaders(webhook))).toMatchObject({
    data: { reference, status: "success" },
  });
});

test("deliveries lists a delivered webhook; deliveries replay and announce resend it under the same webhook id", async () => {
  const { account, key } = await service.newApp();
  await admin("webhook", "set", account, receiver.url);
  const { reference } = await service.buy(key, "08031234567");
  await eventually(async () => expect((await admin("deliveries", "show", reference)).stdout).toMatch(/delivered +200/));
  expect((await admin("deliveries", "list", account)).stdout).toContain(reference);
  await service.adminJson(["deliveries", "replay", reference]);
  await service.adminJson(["announce", "--from", isoTime(Date.now() - 60_000), "--name", "resend-1"]);
  await eventually(() => {
    const copies = receiver.received.filter(({ body }) => body.includes(reference));
    expect(copies).toHaveLength(3);
    expect(new Set(copies.map(({ headers }) => headers.id)).size).toBe(1);
  });
});

test("announce prints how many final transactions it found, and that their webhooks are sent once per name", async () => {
  const { key } = await service.newApp();
  await service.buy(key, "08031234567");
  const { stdout } = await admin("announce", "--from", isoTime(Date.now() - 60_000), "--name", "after-outage");
  expect(stdout).toMatch(/final transactions +[1-9]/);
  expect(stdout).toContain("Webhooks already sent under this name are not sent again.");
});

test("a restricted account gets 403 until it is unrestricted, and its audit log has who, what and why", async () => {
  const { account, key, keyId } = await service.newApp("reports");
  await admin("accounts", "restrict", account, "--why", "unpaid", "--by", "ada");
  expect((await service.buy(key, "08031234567")).status).toBe(403);
  await admin("accounts", "unrestrict", account);
  expect((await service.buy(key, "08031234567")).status).toBe(200);
  const [list, shown] = [await admin("accounts", "list"), await admin("accounts", "show", account)];
  expect(list.stdout).toMatch(new RegExp(`${account} +reports +active +4,500\\.00`));
  expect(shown.stdout).toContain(keyId);
  expect(shown.stdout).not.toContain(key);
  expect(shown.stdout).toMatch(/ada +accounts restrict +- +unpaid/);
});

test("accounts owners replaces the list of owners, which accounts show prints until none is left", async () => {
  const { account } = await service.newApp();
  const shown = async () => (await admin("accounts", "show", account)).stdout;
  expect(await shown()).not.toContain("owners");
  const { stdout } = await admin(
    "accounts",
    "owners",
    account,
    "--set",
    "email:Ada@example.com",
    "group:Checkout team",
  );
  expect(stdout).toMatch(/^KIND +OWNER\nemail +ada@example.com\ngroup +Checkout team\n$/);
  expect(await shown()).toMatch(/owners +email:ada@example.com, group:Checkout team\n/);
  const none = z.object({ account_id: z.string(), owners: z.array(z.unknown()) });
  expect(await adminJson(none, "accounts", "owners", account, "--set", "none")).toEqual({
    account_id: account,
    owners: [],
  });
  expect(await shown()).not.toMatch(/owners +email/);
});

test("an account calls from an allowed address until ips disallow removes it", async () => {
  const { account, key } = await service.newApp();
  const ips = z.object({ ips: z.array(z.string()) });
  expect(await adminJson(ips, "ips", "allow", account, "10.0.0.0/8", "127.0.0.1")).toEqual({
    ips: ["127.0.0.1", "10.0.0.0/8"],
  });
  await admin("ips", "disallow", account, "127.0.0.1");
  expect((await admin("ips", "list", account)).stdout).toBe("ADDRESS OR RANGE\n10.0.0.0/8\n");
  expect((await service.buy(key, "08031234567")).status).toBe(403);
});

test("a rotated key works beside its replacement during the overlap, until keys revoke refuses it", async () => {
  const { account, key, keyId } = await service.newApp();
  const replacement = await adminJson(newKey, "keys", "rotate", keyId, "--overlap", "1h");
  for (const each of [key, replacement.key]) expect((await service.buy(each, "08031234567")).status).toBe(200);
  await admin("keys", "revoke", keyId);
  expect((await service.buy(key, "08031234567")).status).toBe(401);
  expect((await service.buy(replacement.key, "08031234567")).status).toBe(200);
  const { stdout } = await admin("keys", "list", account);
  expect(stdout).toMatch(new RegExp(`${keyId} .* live +revoked`));
  expect(stdout).not.toContain(replacement.key);
});

test("keys find reads a key from standard input and shows its id and status", async () => {
  const { key, keyId } = await service.newApp();
  const found = z.object({ key_id: z.string(), status: z.string() });
  expect(found.parse(await service.adminJson(["keys", "find"], `${key}\n`))).toEqual({
    key_id: keyId,
    status: "active",
  });
});

test("a key that was rotated without an overlap gets 401 at once", async () => {
  const { key, keyId } = await service.newApp();
  await admin("keys", "rotate", keyId, "--overlap", "0");
  expect((await service.buy(key, "08031234567")).status).toBe(401);
});

test("a key that was created without the permission vtu gets 403 for a purchase", async () => {
  const { account } = await service.newApp();
  const { key } = await adminJson(
    newKey,
    ...["keys", "create", account, "--mode", "live", "--permissions", "identity"],
  );
  expect((await service.buy(key, "08031234567")).status).toBe(403);
});

test("a second keys rotate of the same key is refused with exit code 2 and creates no key", async () => {
  const { account, keyId } = await service.newApp();
  await service.adminJson(["keys", "rotate", keyId, "--overlap", "24h"]);
  const { stdout } = await admin("keys", "list", account);
  const again = await admin("keys", "rotate", keyId, "--overlap", "24h");
  expect(again).toMatchObject({ code: 2, stdout: "" });
  expect(again.stderr).toMatch(
    new RegExp(`^${keyId} was rotated already and expires at 20[-0-9T:.]+Z\\. See its replacement`),
  );
  expect((await admin("keys", "list", account)).stdout).toBe(stdout);
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

test("wallet threshold sets the low balance that accounts show prints, and 0 removes it", async () => {
  const { account } = await service.newApp();
  const threshold = z.object({ low_balance_threshold: z.nullable(z.number()) });
  await admin("wallet", "threshold", account, "500.50");
  expect(await adminJson(threshold, "accounts", "show", account)).toEqual({ low_balance_threshold: 500.5 });
  await admin("wallet", "threshold", account, "0");
  expect(await adminJson(threshold, "accounts", "show", account)).toEqual({ low_balance_threshold: null });
});

test("wallet verify exits with 0 while the balance equals its entries, and with 1 if it is 1 kobo too high", async () => {
  const { account } = await service.newApp();
  expect((await admin("wallet", "verify", account)).code).toBe(0);
  await service.changeBalance(account, 1);
  const mismatch = await admin("wallet", "verify", account);
  expect([mismatch.code, mismatch.stdout]).toEqual([1, expect.stringMatching(/difference +0\.01/)]);
});

test("a transaction that is open for 16 minutes is listed by --stuck, and a younger one by --open only", async () => {
  const { key } = await service.newApp();
  const { reference } = await service.buy(key, "08000000004");
  expect((await admin("transactions", "list", "--open")).stdout).toContain(reference);
  expect((await admin("transactions", "list", "--stuck")).stdout).not.toContain(reference);
  await ageTransaction(service, reference, 16 * 60_000);
  expect((await admin("transactions", "list", "--stuck")).stdout).toContain(reference);
});

test("an open transaction that is resolved as failed is refunded, is final, and shows that in its history", async () => {
  const { account, key } = await service.newApp();
  const { reference } = await service.buy(key, "08000000004");
  const resolve = ["transactions", "resolve", reference, "failed", "--why", "not in their list"];
  expect(await adminJson(resolved, ...resolve)).toEqual({ status: "failed", refunded: 500 });
  expect(await adminJson(balance, "wallet", "verify", account)).toEqual({ balance: 5_000 });
  const again = await admin("transactions", "resolve", reference, "success", "--why", "they have it after all");
  expect(again).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(/was settled as failed at .* final/) });
  expect((await admin("transactions", "list", "--open")).stdout).not.toContain(reference);
  const { stdout } = await admin("transactions", "show", reference);
  expect(stdout).toMatch(/^ *amount +500\.00$/m);
  expect(stdout).toMatch(/Debited +500\.00 NGN/);
  expect(stdout).toMatch(/Resolved +by .*, status=failed, "not in their list"/);
});

test("a transaction is found by the upstream's reference, and by the caller's own with its account", async () => {
  const { account, key } = await service.newApp();
  const { reference } = await service.buy(key, "08031234567", "order-77");
  const { stdout } = await admin("transactions", "show", "order-77", "--account", account);
  expect(stdout).toContain(reference);
  expect(stdout).toMatch(/caller_reference +order-77/);
  const upstream = z.object({ upstream_reference: z.string() });
  const { upstream_reference } = await adminJson(upstream, "transactions", "show", reference);
  expect((await admin("transactions", "show", upstream_reference)).stdout).toContain(reference);
  expect((await admin("audit", "order-77", "--account", account)).code).toBe(0);
  const list = await admin("transactions", "list", "--account", account, "--status", "success");
  expect(list.stdout).toContain(reference);
});

test("an event that fits several transactions is matched with one of them, once", async () => {
  const { key } = await service.newApp();
  const { reference } = await service.buy(key, "08000000004");
  const upstream = service.simulator?.state.purchases.at(-1)?.upstreamReference ?? "";
  const event = await putEvent(upstream, 500, "several_candidates");
  const match = ["events", "match", event, reference, "--why", "same minute"];
  expect(await adminJson(resolved, ...match)).toEqual({ status: "success", refunded: 0 });
  expect(await admin(...match)).toEqual({ code: 2, stdout: "", stderr: `${event} is matched already.\n` });
  expect((await admin("events", "list", "--state", "matched")).stdout).toContain(event);
});

test("an event of another amount than its transaction is matched only with --although-different", async () => {
  const { key } = await service.newApp();
  const { reference } = await service.buy(key, "08000000001");
  await ageTransaction(service, reference);
  const event = await putEvent(`U-${reference}`, 777, "no_candidate");
  const match = ["events", "match", event, reference, "--why", "the upstream confirmed it"];
  const refused = await admin(...match);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toMatch(/amount \(777\.00 NGN, not 500\.00 NGN\): --although-different/);
  expect(await service.adminJson([...match, "--although-different"])).toMatchObject({
    status: "success",
    differences: [{ field: "amount", event: "777.00 NGN", transaction: "500.00 NGN" }],
  });
});

test("an event that contradicts a final status is listed, is in the transaction's history, and can be discarded", async () => {
  const { key } = await service.newApp();
  const { reference } = await service.buy(key, "08031234567");
  await service.controlSimulator("POST", "events", { reference, status: "failed" });
  const { event, reason } = await eventAbout(reference);
  expect(reason).toBe("contradiction");
  expect((await admin("transactions", "show", reference)).stdout).toContain(
    `${event} says failed, contradiction, open`,
  );
  await service.adminJson(["events", "discard", event, "--why", "they answered: a test of theirs"]);
  expect((await admin("events", "list")).stdout).not.toContain(event);
});

test("an event with an unknown status is in its transaction's history, cannot be matched, and can be discarded", async () => {
  const { key } = await service.newApp();
  const { reference } = await service.buy(key, "08000000004");
  await service.controlSimulator("POST", "events", { reference, status: "reversed" });
  const listed = await eventAbout(reference);
  expect(listed).toMatchObject({ reason: "unreadable", says: "status reversed", type: null, amount: null });
  const { event } = listed;
  const matched = await admin("events", "match", event, reference, "--why", "same order");
  expect(matched).toMatchObject({ code: 2, stdout: "" });
  expect(matched.stderr).toContain("reports no status (status reversed)");
  expect((await admin("transactions", "show", reference)).stdout).toContain(
    `${event} says status reversed, unreadable, open`,
  );
  await service.adminJson(["events", "discard", event, "--why", "the upstream says that it meant another order"]);
  expect((await admin("events", "list")).stdout).not.toContain(event);
});

test("webhook secret rotate makes webhook test send both signatures, and webhook show prints no secret", async () => {
  const { account } = await service.newApp();
  const secret = z.object({ webhook_secret: z.string() });
  const first = await adminJson(secret, "webhook", "set", account, receiver.url);
  const second = await adminJson(secret, "webhook", "secret", "rotate", account);
  expect((await admin("webhook", "test", account)).code).toBe(0);
  const webhook = receiver.received.findLast(({ body }) => body.includes(account));
  if (webhook === undefined) throw new Error("Nothing was received");
  for (const { webhook_secret } of [first, second]) {
    expect(new Webhook(webhook_secret).verify(webhook.body, standardHeaders(webhook))).toMatchObject({
      event: "webhook.test",
    });
  }
  expect((await admin("webhook", "show", account)).stdout).not.toContain("whsec_");
});

test("webhook disable and webhook enable switch an endpoint off and on", async () => {
  const { account } = await service.newApp();
  await admin("webhook", "set", account, receiver.url);
  const status = z.object({ status: z.string() });
  expect(await adminJson(status, "webhook", "disable", account)).toEqual({ status: "off" });
  expect(await adminJson(status, "webhook", "enable", account)).toEqual({ status: "on" });
});

test("webhook test of an endpoint that refuses connections exits with 1 and prints why", async () => {
  const { account } = await service.newApp();
  const closed = await startReceiver();
  await admin("webhook", "set", account, closed.url);
  await closed.stop();
  const failed = await admin("webhook", "test", account);
  expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining("ECONNREFUSED")]);
});

test("consents show prints who made an identity check, when and why, but not the NIN, and escapes control characters", async () => {
  const { account, key, keyId } = await service.newApp();
  const nin = "31415926535";
  const purpose = "loan \u001b[31m7";
  const response = await service.verifyNin(key, { nin, reference: "kyc-7", purpose });
  const reference = response.headers.get("x-transaction-reference") ?? "";
  expect(await service.adminJson(["consents", "show", reference])).toEqual({
    reference,
    account_id: account,
    key_id: keyId,
    mode: "live",
    operation: "nin_verification",
    extent: "basic",
    purpose,
    evidence: null,
    created_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T/),
    request_id: response.headers.get("x-request-id"),
  });
  const { stdout } = await admin("consents", "show", "kyc-7", "--account", account);
  expect(stdout).toContain("loan \\u001b[31m7");
  expect(stdout).not.toContain("\u001b[31m7");
  expect(stdout).not.toContain(nin);
});

test("consents export prints a chain that consents verify accepts with the service only, and of whose changes it names the line", async () => {
  const { account, key } = await service.newApp();
  const references: string[] = [];
  for (const purpose of ["loan", "card", "loan"]) {
    const response = await service.verifyNin(key, { nin: "31415926535", purpose });
    const reference = response.headers.get("x-transaction-reference") ?? "";
    references.push(reference);
    await ageTransaction(service, reference, (5 - references.length) * 3_600_000);
  }
  const { stdout: file } = await admin("consents", "export", "--account", account, "--by", "ada");
  const lines = file.trimEnd().split("\n");
  expect(lines).toHaveLength(5);
  for (const [index, reference] of references.entries()) expect(lines[index + 1]).toContain(reference);

  const verify = (text: string) => service.admin(["consents", "verify"], text);
  expect(await verify(file)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("the file that Command line (says: ada) exported"),
  });
  expect(await service.adminJson(["consents", "verify"], file)).toMatchObject({
    ok: true,
    account,
    count: 3,
    compared: true,
    recorded: { exported_by: "Command line (says: ada)" },
  });
  const changed = await verify(file.replace("card", "loan"));
  expect(changed).toMatchObject({ code: 1, stdout: "Line 3 is wrong: it was changed.\n" });
  const removed = await verify(lines.toSpliced(2, 1).join("\n"));
  expect(removed).toMatchObject({ code: 1, stdout: "Line 3 is wrong: consent 2 was removed before it.\n" });

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
