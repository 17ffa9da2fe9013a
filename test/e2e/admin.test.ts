import { createHash } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "#zod";
import { eventStateTexts } from "../../shared/contract/actions/upstream-events.ts";
import { catalogSchema } from "../../shared/contract/catalog.ts";
import { eventReasonTexts } from "../../shared/contract/event-reasons.ts";
import { catalogUpdated, walletLow } from "../../shared/contract/openapi-webhooks.ts";
import { referenceOf } from "../../shared/ledger/transaction.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { listQueuedOrders } from "../../shared/queued-orders/queue-store.ts";
import { loadFunctions } from "../../tools/local/functions.ts";
import {
  type AdminRun,
  ageTransaction,
  bankReference,
  type OperatedService,
  runCommand,
  startOperatedService,
} from "../builders/admin.ts";
import { eventually } from "../builders/eventually.ts";
import { claimAsSender } from "../builders/queued-order.ts";
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

const balance = z.object({ balance: z.number() });
const eventList = z.object({
  events: z.array(z.looseObject({ event: z.string(), reason: z.string() })),
});

/** Waits for the event that is listed with this transaction. */
const eventAbout = (reference: string) =>
  eventually(async () => {
    const { events } = await adminJson(eventList, "events", "list");
    const found = events.find(({ transaction }) => transaction === reference);
    if (found === undefined) throw new Error(`No event about ${reference} is listed`);
    return found;
  });

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
  await service.adminJson(["transactions", "resolve", reference, "failed", "--why", "not in their list"]);
  const { stdout } = await admin("transactions", "show", reference);
  expect(stdout).toMatch(/^ *amount +500\.00$/m);
  expect(stdout).toMatch(/Debited +NGN 500\.00/);
  expect(stdout).toMatch(/Resolved +.* resolved the order .* as failed, .*"not in their list"/);
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
  expect(await service.adminJson(["transactions", "list", "--account", account])).toMatchObject({ truncated: false });
});

test("an event that contradicts a final status is listed, is in the transaction's history, and can be discarded", async () => {
  const { key } = await service.newApp();
  const { reference } = await service.buy(key, "08031234567");
  await service.controlSimulator("POST", "events", { reference, status: "failed" });
  const { event, reason } = await eventAbout(reference);
  expect(reason).toBe("contradiction");
  expect((await admin("transactions", "show", reference)).stdout).toContain(
    `${event}: failed. ${eventReasonTexts.contradiction}. ${eventStateTexts.open}`,
  );
  await service.adminJson(["events", "discard", event, "--why", "they answered: a test of theirs"]);
  expect((await admin("events", "list")).stdout).not.toContain(event);
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

describe("the events that an operator chose for a caller", () => {
  const received = (event: string) => receiver.received.filter(({ body }) => body.startsWith(`{"event":"${event}"`));
  const arrived = (event: string, count: number) => eventually(() => expect(received(event)).toHaveLength(count));

  const EVENTS = "transaction.updated,wallet.low,catalog.updated";
  const endpoint = z.object({ webhook_secret: z.string(), events: z.array(z.string()) });

  /** A minute of the function that checks balances. */
  const passMinute = async (): Promise<void> => {
    const invoke = await loadFunctions(["requeue-deliveries"], new URL("../../functions/", import.meta.url));
    await invoke("requeue-deliveries", {});
  };

  test("a caller gets wallet.low once for each fall below its threshold, and an operator can show and replay it", async () => {
    const { account, key } = await service.newApp();
    const set = endpoint.parse(await service.adminJson(["webhook", "set", account, receiver.url, "--events", EVENTS]));
    expect(set.events.join()).toBe(EVENTS);
    await service.adminJson(["wallet", "threshold", account, "4800"]);
    await passMinute();
    await service.buy(key, "08031234567");
    for (let minute = 0; minute < 2; minute += 1) await passMinute();
    await arrived("wallet.low", 1);
    const [first] = received("wallet.low");
    const verified = first && new Webhook(set.webhook_secret).verify(first.body, standardHeaders(first));
    expect(walletLow.parse(verified).data).toMatchObject({ account_id: account, balance: 4_500, threshold: 4_800 });

    await service.adminJson(["wallet", "fund", account, "1000", "--id", `more-${account}`]);
    await passMinute();
    await service.buy(key, "08031234567");
    await service.buy(key, "08031234568");
    await passMinute();
    await arrived("wallet.low", 2);
    const [, second] = received("wallet.low");
    expect(second?.headers.id).not.toBe(first?.headers.id);

    const id = first?.headers.id ?? "";
    expect((await service.admin(["deliveries", "list", account])).stdout).toMatch(new RegExp(`${id} +1 +wallet.low`));
    await eventually(async () =>
      expect((await service.admin(["deliveries", "show", id])).stdout).toMatch(/delivered +200/),
    );
    await service.adminJson(["deliveries", "replay", id]);
    await arrived("wallet.low", 3);
    expect([received("wallet.low")[2]?.headers.id, received("wallet.low")[2]?.body]).toEqual([id, first?.body]);
    await eventually(async () => expect((await service.admin(["deliveries", "show", id])).stdout).toMatch(/replay-/));
  });

  test("only subscribed callers get catalog.updated after the upstream's catalog changed", async () => {
    const [subscribed, other] = [await service.newApp(), await service.newApp()];
    const [chosen, unchosen] = await Promise.all([
      service.adminJson(["webhook", "set", subscribed.account, receiver.url, "--events", EVENTS]),
      service.adminJson(["webhook", "set", other.account, receiver.url]),
    ]);

    const response = await fetch(`${service.details.base_url}/vtu/data`, {
      headers: { authorization: `Bearer ${subscribed.key}` },
    });
    const { data } = z.object({ data: catalogSchema }).parse(await response.json());
    const [plan, ...rest] = data.data_plans;
    if (plan === undefined) throw new Error("The catalog is empty");
    const changed = { ...data, data_plans: [{ ...plan, price: plan.price + 10 }, ...rest] };
    await service.controlSimulator("PUT", "catalog", { status: true, message: "OK", data: changed });
    receiver.received.length = 0;
    await service.adminJson(["catalog", "refresh"]);
    await service.adminJson(["catalog", "refresh"]);
    const sentTo = (set: unknown) =>
      received("catalog.updated").flatMap((event) => {
        try {
          return [
            catalogUpdated.parse(
              new Webhook(endpoint.parse(set).webhook_secret).verify(event.body, standardHeaders(event)),
            ),
          ];
        } catch {
          return [];
        }
      });
    await eventually(() => expect(sentTo(chosen)).toHaveLength(1));
    expect(sentTo(chosen)[0]?.data.plans_repriced).toMatchObject([
      { id: plan.id, price: plan.price + 10, previous_price: plan.price },
    ]);
    expect(sentTo(unchosen)).toEqual([]);
  });
});

/** Last: the upstream refuses orders from then on. */
describe("orders that wait for the upstream's rate limit", () => {
  let app: Awaited<ReturnType<OperatedService["newApp"]>>;
  beforeAll(async () => {
    app = await service.newApp();
  });

  const waitingList = z.object({
    number: z.int(),
    amount: z.number(),
    oldest_s: z.nullable(z.int()),
    sending_s: z.nullable(z.int()),
    accounts: z.array(z.object({ account_id: z.string(), number: z.int(), counted: z.int(), amount: z.number() })),
    orders: z.array(z.object({ reference: z.string(), account_id: z.string(), amount: z.number(), age_s: z.int() })),
  });
  const listWaiting = async (...args: readonly string[]) =>
    waitingList.parse(await service.adminJson(["transactions", "list", "--waiting", ...args]));
  const checks = z.object({
    checks: z.array(z.object({ check: z.string(), state: z.string(), found: z.string() })),
  });
  const doctorsQueuedOrders = async () => {
    const { stdout } = await admin("doctor", "--json");
    return checks.parse(JSON.parse(stdout)).checks.find(({ check }) => check === "queued orders");
  };

  test("transactions list --waiting says that none waits before the upstream's limit refuses an order", async () => {
    expect(await listWaiting()).toEqual({
      number: 0,
      amount: 0,
      oldest_s: null,
      sending_s: 0,
      accounts: [],
      orders: [],
    });
    expect(await doctorsQueuedOrders()).toMatchObject({ state: "ok", found: "none" });
  });

  test("orders that wait are listed by account, shown with their latest refund, and doctor reports them once they wait for long", {
    timeout: 60_000,
  }, async () => {
    await service.refuseByLimit();
    const first = await service.buy(app.key, "08031234567", "wait-1");
    const other = await service.newApp("other");
    const second = await service.buy(other.key, "08031234567", "wait-2");
    expect([first.status, second.status]).toEqual([200, 200]);

    const all = await eventually(async () => {
      const listed = await listWaiting();
      expect(listed.number).toBe(2);
      return listed;
    });
    expect(all).toMatchObject({ amount: 1_000, sending_s: 2 });
    expect(all.accounts).toEqual(
      [app, other].map(({ account }) => ({ account_id: account, number: 1, counted: 1, amount: 500 })),
    );
    expect(all.orders.map(({ reference }) => reference)).toEqual([first.reference, second.reference]);
    expect((await listWaiting("--account", other.account)).orders).toMatchObject([{ reference: second.reference }]);
    expect((await admin("transactions", "list", "--waiting")).stdout).toMatch(
      new RegExp(`${first.reference} +${app.account}`),
    );
    expect((await admin("transactions", "list", "--open")).stdout).not.toContain(first.reference);

    const { stdout: shown } = await admin("transactions", "show", first.reference);
    expect(shown).toMatch(/wait +waits since .*; refunded by the next run after .*, unless it is sent before/);
    expect(shown).toMatch(/Waits since/);
    expect(await doctorsQueuedOrders()).toMatchObject({ state: "ok", found: expect.stringContaining("2 wait") });
    await ageTransaction(service, first.reference, 8 * 60_000);
    expect(await doctorsQueuedOrders()).toMatchObject({ state: "look", found: expect.stringContaining("for 8 min") });

    await admin("purchases", "off", "--why", "test");
    expect((await admin("transactions", "show", first.reference)).stdout).toContain("it is neither sent nor refunded");
    expect((await listWaiting()).sending_s).toBeNull();
    expect(await doctorsQueuedOrders()).toMatchObject({
      state: "look",
      found: expect.stringContaining("purchases are off"),
    });
    await admin("purchases", "on");
  });

  test("an order that was sent after a wait is shown with the time that it waited", async () => {
    const [listed] = (await listWaiting()).orders;
    const [order] = await listQueuedOrders(service.ledger, listed?.account_id ?? "");
    if (order === undefined) throw new Error("No order waits");
    expect((await claimAsSender(service.ledger, order)).kind).toBe("claimed");
    const { stdout: shown } = await admin("transactions", "show", referenceOf(order));
    expect(shown).toMatch(/wait +waited \d+ \w+, until 20/);
    expect(shown).toMatch(/Sent +after a wait of \d+ \w+/);
    expect(shown).toMatch(/Until when to wait +20[^ ]+Z?\b.* Most orders .* asked for it within a minute of 20/);
  });
});
