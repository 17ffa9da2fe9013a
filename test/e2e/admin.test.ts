import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { walletPk } from "../../shared/ledger/schema.ts";
import { sqsClient } from "../../shared/platform/aws-clients.ts";
import { koboFromNaira } from "../../shared/platform/money.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { recordEvent } from "../../shared/upstream-events/stored-event.ts";
import { tableNames } from "../../tools/local/tables.ts";
import {
  type AdminRun,
  ageTransaction,
  bankReference,
  type OperatedService,
  startOperatedService,
} from "../builders/admin.ts";
import { type Receiver, standardHeaders, startReceiver } from "../builders/receiver.ts";

/** Goal: an operator who types a command gets what it says. */
let service: OperatedService;
let receiver: Receiver;
beforeAll(async () => {
  [service, receiver] = await Promise.all([startOperatedService(), startReceiver()]);
});
afterAll(async () => {
  await Promise.all([service.stop(), receiver.stop()]);
});

const admin = (...args: readonly string[]): Promise<AdminRun> => service.admin(args);
const adminJson = async <Schema extends z.ZodType>(schema: Schema, ...args: readonly string[]) =>
  schema.parse(await service.adminJson(args));

const accountId = z.object({ account_id: z.string() });
const madeKey = z.object({ key_id: z.string(), key: z.string() });
const ending = z.object({ status: z.string(), refunded: z.number() });
const balance = z.object({ balance: z.number() });
const eventList = z.object({ events: z.array(z.looseObject({ event: z.string(), reason: z.string() })) });

describe("an app", () => {
  test("is onboarded with 5 commands, buys, and is told with a signature that its library accepts", async () => {
    const { account_id: account } = await adminJson(accountId, "accounts", "create", "checkout");
    await adminJson(accountId, "ips", "allow", account, "127.0.0.1");
    const { key } = await adminJson(madeKey, "keys", "create", account, "--mode", "live");
    await adminJson(balance, "wallet", "fund", account, "5000", "--id", "bank-1");
    const set = await adminJson(z.object({ webhook_secret: z.string() }), "webhook", "set", account, receiver.url);
    const { reference } = await service.buy(key, "08031234567");
    const [told] = await vi.waitFor(() => {
      const found = receiver.received.filter(({ body }) => body.includes(reference));
      expect(found).toHaveLength(1);
      return found;
    }, 10_000);
    if (told === undefined) throw new Error("Nothing was received");
    expect(new Webhook(set.webhook_secret).verify(told.body, standardHeaders(told))).toMatchObject({
      data: { reference, status: "success" },
    });
    await vi.waitFor(
      async () => expect((await admin("deliveries", "show", reference)).stdout).toMatch(/delivered +200/),
      5_000,
    );
    expect((await admin("deliveries", "list", account)).stdout).toContain(reference);

    await service.adminJson(["deliveries", "replay", reference]);
    const from = isoTime(Date.now() - 60_000);
    await service.adminJson(["announce", "--from", from, "--name", "again"]);
    await vi.waitFor(() => {
      const copies = receiver.received.filter(({ body }) => body.includes(reference));
      expect(copies).toHaveLength(3);
      expect(new Set(copies.map(({ headers }) => headers.id)).size).toBe(1);
    }, 10_000);
  });

  test("is listed and shown, with who did what and why", async () => {
    const { account, key, keyId } = await service.newApp("reports");
    await service.admin(["accounts", "restrict", account, "--why", "unpaid", "--by", "ada"]);
    expect((await service.buy(key, "08031234567")).status).toBe(403);
    await admin("accounts", "unrestrict", account);
    expect((await service.buy(key, "08031234567")).status).toBe(200);
    const [list, shown] = [await admin("accounts", "list"), await admin("accounts", "show", account)];
    expect(list.stdout).toMatch(new RegExp(`${account} +reports +active +4,500\\.00`));
    expect(shown.stdout).toContain(keyId);
    expect(shown.stdout).not.toContain(key);
    expect(shown.stdout).toMatch(/ada +accounts restrict +- +unpaid/);
  });

  test("calls from the addresses on its list, until they are taken off it", async () => {
    const { account, key } = await service.newApp();
    const ips = z.object({ ips: z.array(z.string()) });
    expect(await adminJson(ips, "ips", "allow", account, "10.0.0.0/8", "127.0.0.1")).toEqual({
      ips: ["127.0.0.1", "10.0.0.0/8"],
    });
    await admin("ips", "disallow", account, "127.0.0.1");
    expect((await admin("ips", "list", account)).stdout).toBe("ADDRESS OR RANGE\n10.0.0.0/8\n");
    expect((await service.buy(key, "08031234567")).status).toBe(403);
  });
});

describe("a key", () => {
  test("that is rotated goes on beside the new one, is found by its text, and is refused once it is revoked", async () => {
    const { account, key, keyId } = await service.newApp();
    const fresh = await adminJson(madeKey, "keys", "rotate", keyId, "--overlap", "1h");
    for (const each of [key, fresh.key]) expect((await service.buy(each, "08031234567")).status).toBe(200);
    const found = z.object({ key_id: z.string(), status: z.string() });
    expect(found.parse(await service.adminJson(["keys", "find"], `${key}\n`))).toEqual({
      key_id: keyId,
      status: "active",
    });
    await admin("keys", "revoke", keyId);
    expect((await service.buy(key, "08031234567")).status).toBe(401);
    expect((await service.buy(fresh.key, "08031234567")).status).toBe(200);
    const { stdout } = await admin("keys", "list", account);
    expect(stdout).toMatch(new RegExp(`${keyId} +live +revoked`));
    expect(stdout).not.toContain(fresh.key);
  });

  test("that is rotated without an overlap is refused at once; a permission that it lacks is 403", async () => {
    const { account, key, keyId } = await service.newApp();
    await admin("keys", "rotate", keyId, "--overlap", "0");
    expect((await service.buy(key, "08031234567")).status).toBe(401);
    const wish = ["--mode", "live", "--permissions", "identity"];
    const identity = await adminJson(madeKey, "keys", "create", account, ...wish);
    expect((await service.buy(identity.key, "08031234567")).status).toBe(403);
  });
});

test("a wallet is funded once, adjusted once, stated and proved; one that lies ends verify with exit code 1", async () => {
  const { account } = await service.newApp();
  const adjust = ["wallet", "adjust", account, "-250.50", "--id", "case-1", "--why", "=refunded twice"];
  for (const repeat of [1, 2]) {
    expect(
      await adminJson(balance, "wallet", "fund", account, "5000", "--id", ` ${bankReference(account)}`),
      `${repeat}`,
    ).toBeDefined();
    expect(await adminJson(balance, ...adjust), `${repeat}`).toEqual({ balance: 4_749.5 });
  }
  const csv = (await admin("wallet", "statement", account, "--csv")).stdout.split("\r\n");
  expect(csv[0]).toBe("at,kind,id,status,description,effect,balance");
  expect(csv[1]).toMatch(new RegExp(`^[^,]+,funding,${bankReference(account)},booked,,5000\\.00,5000\\.00$`));
  expect(csv[2]).toMatch(/^[^,]+,adjustment,case-1,booked,'=refunded twice,-250\.50,4749\.50\n$/);
  expect((await admin("wallet", "statement", account, "--from", "2020-01-01")).stdout).toContain("4,749.50");
  expect((await admin("wallet", "verify", account)).code).toBe(0);
  for (const [naira, threshold] of [
    ["500.50", 500.5],
    ["0", null],
  ] as const) {
    expect((await admin("wallet", "threshold", account, naira)).code).toBe(0);
    const shown = await adminJson(
      z.object({ low_balance_threshold: z.number().nullable() }),
      "accounts",
      "show",
      account,
    );
    expect(shown).toEqual({ low_balance_threshold: threshold });
  }
  const acts = (await admin("audit", account)).stdout.match(/wallet adjust .*/g);
  expect(acts).toEqual([expect.stringMatching(/=refunded twice$/)]);

  await service.ledger.db.send(
    new UpdateCommand({
      TableName: tableNames.ledger,
      Key: { pk: walletPk(account) },
      UpdateExpression: "SET balance_kobo = balance_kobo + :one",
      ExpressionAttributeValues: { ":one": 1 },
    }),
  );
  const lie = await admin("wallet", "verify", account);
  expect([lie.code, lie.stdout]).toEqual([1, expect.stringMatching(/difference +0\.01/)]);
});

describe("a transaction", () => {
  test("that is stuck is listed, shown, and resolved once: failed gives the money back", async () => {
    const { account, key } = await service.newApp();
    const { reference } = await service.buy(key, "08000000004");
    expect((await admin("transactions", "list", "--open")).stdout).toContain(reference);
    expect((await admin("transactions", "list", "--stuck")).stdout).not.toContain(reference);
    await ageTransaction(service, reference, 16 * 60_000);
    expect((await admin("transactions", "list", "--stuck")).stdout).toContain(reference);
    const { upstream_reference } = z
      .object({ upstream_reference: z.string() })
      .parse(await service.adminJson(["transactions", "show", reference]));
    expect((await admin("transactions", "show", upstream_reference)).stdout).toContain(reference);
    const resolve = ["transactions", "resolve", reference, "failed", "--why", "not in their list"];
    expect(await adminJson(ending, ...resolve)).toEqual({ status: "failed", refunded: 500 });
    expect(await adminJson(balance, "wallet", "verify", account)).toEqual({ balance: 5_000 });
    const again = await admin("transactions", "resolve", reference, "success", "--why", "they have it after all");
    expect(again).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(/is failed since .* final/) });
    expect((await admin("transactions", "list", "--open")).stdout).not.toContain(reference);
    const { stdout } = await admin("transactions", "show", reference);
    expect(stdout).toMatch(/created +500\.00 NGN debited/);
    expect(stdout).toMatch(/transactions resolve +by .*, status=failed, "not in their list"/);
  });

  test("is found by the app's own reference and its account", async () => {
    const { account, key } = await service.newApp();
    await service.buy(key, "08031234567", "order-77");
    const { stdout } = await admin("transactions", "show", "order-77", "--account", account);
    expect(stdout).toMatch(/caller_reference +order-77/);
    expect((await admin("audit", "order-77", "--account", account)).code).toBe(0);
    expect((await admin("transactions", "list", "--account", account, "--status", "success")).stdout).toMatch(
      /AIRTIME_/,
    );
  });
});

describe("an event", () => {
  test("that fits nothing is matched by hand, once", async () => {
    const { key } = await service.newApp();
    const { reference } = await service.buy(key, "08000000004");
    const upstream = service.simulator?.state.purchases.findLast(({ phoneNumber }) => phoneNumber === "08000000004");
    const told = { kind: "event", mode: "live", status: "success", type: "airtime" } as const;
    await recordEvent(
      service.ledger,
      {
        ...told,
        received_at: isoTime(Date.now()),
        reference: upstream?.upstreamReference ?? "",
        amount_kobo: koboFromNaira(500),
      },
      "several_candidates",
    );
    const { events } = await adminJson(eventList, "events", "list");
    const event = events.find(({ reason }) => reason === "several_candidates")?.event ?? "";
    expect(await adminJson(ending, "events", "match", event, reference, "--why", "same minute")).toEqual({
      status: "success",
      refunded: 0,
    });
    const again = await admin("events", "match", event, reference, "--why", "same minute");
    expect(again).toEqual({ code: 2, stdout: "", stderr: `${event} is matched already.\n` });
    expect((await admin("events", "list", "--state", "matched")).stdout).toContain(event);
  });

  test("with another amount is matched only when the operator accepts the difference", async () => {
    const { key } = await service.newApp();
    const { reference } = await service.buy(key, "08000000001");
    await ageTransaction(service, reference);
    const other = `U-${reference}`;
    const elsewhere = { received_at: isoTime(Date.now()), reference: other, amount_kobo: koboFromNaira(777) };
    await recordEvent(
      service.ledger,
      { kind: "event", mode: "live", status: "success", type: "airtime", ...elsewhere },
      "no_candidate",
    );
    const { events } = await adminJson(eventList, "events", "list");
    const differing = events.find(({ upstream_reference }) => upstream_reference === other)?.event ?? "";
    const refused = await admin("events", "match", differing, reference, "--why", "same minute");
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toMatch(/amount \(777\.00 NGN, not 500\.00 NGN\): --although-different/);
    const args = [
      "events",
      "match",
      differing,
      reference,
      "--although-different",
      "--why",
      "the upstream confirmed it",
    ];
    expect(await service.adminJson(args)).toMatchObject({
      status: "success",
      differences: [{ field: "amount", event: "777.00 NGN", transaction: "500.00 NGN" }],
    });
  });

  test("that contradicts an end waits, is part of its history, and is discarded", async () => {
    const { key } = await service.newApp();
    const { reference } = await service.buy(key, "08031234567");
    const control = service.details.upstream.base_url.replace(/\/v1$/, "/_simulator/events");
    await fetch(control, { method: "POST", body: JSON.stringify({ reference, status: "failed" }) });
    const event = await vi.waitFor(async () => {
      const { events } = await adminJson(eventList, "events", "list");
      const found = events.find((each) => each.transaction === reference);
      expect(found?.reason).toBe("contradiction");
      return found?.event ?? "";
    }, 10_000);
    expect((await admin("transactions", "show", reference)).stdout).toContain(
      `${event} says failed, contradiction, open`,
    );
    await service.adminJson(["events", "discard", event, "--why", "they answered: a test of theirs"]);
    expect((await admin("events", "list")).stdout).not.toContain(event);
  });
});

test("an event that cannot be read is shown with its order, cannot be matched, and is discarded", async () => {
  const { key } = await service.newApp();
  const { reference } = await service.buy(key, "08000000004");
  const control = service.details.upstream.base_url.replace(/\/v1$/, "/_simulator/events");
  await fetch(control, { method: "POST", body: JSON.stringify({ reference, status: "reversed" }) });
  const listed = await vi.waitFor(async () => {
    const { events } = await adminJson(eventList, "events", "list");
    const found = events.find((each) => each.transaction === reference);
    expect(found).toMatchObject({ reason: "unreadable", says: "status reversed", type: null, amount: null });
    return found;
  }, 10_000);
  const event = listed?.event ?? "";
  const matched = await admin("events", "match", event, reference, "--why", "same order");
  expect(matched).toMatchObject({ code: 2, stdout: "" });
  expect(matched.stderr).toContain("cannot be read (status reversed)");
  expect((await admin("transactions", "show", reference)).stdout).toContain(
    `${event} says status reversed, unreadable, open`,
  );
  await service.adminJson(["events", "discard", event, "--why", "the upstream says that it meant another order"]);
  expect((await admin("events", "list")).stdout).not.toContain(event);
});

test("a webhook is tested, switched off and on, and its secret rotated", async () => {
  const { account } = await service.newApp();
  const secret = z.object({ webhook_secret: z.string() });
  const first = await adminJson(secret, "webhook", "set", account, receiver.url);
  const second = await adminJson(secret, "webhook", "secret", "rotate", account);
  expect((await admin("webhook", "test", account)).code).toBe(0);
  const told = receiver.received.at(-1);
  if (told === undefined) throw new Error("Nothing was received");
  for (const { webhook_secret } of [first, second]) {
    expect(new Webhook(webhook_secret).verify(told.body, standardHeaders(told))).toMatchObject({
      event: "webhook.test",
    });
  }
  const status = z.object({ status: z.string() });
  expect(await adminJson(status, "webhook", "disable", account)).toEqual({ status: "off" });
  expect(await adminJson(status, "webhook", "enable", account)).toEqual({ status: "on" });
  expect((await admin("webhook", "show", account)).stdout).not.toContain("whsec_");

  const closed = await startReceiver();
  await admin("webhook", "set", account, closed.url);
  await closed.stop();
  const untaken = await admin("webhook", "test", account);
  expect([untaken.code, untaken.stdout]).toEqual([1, expect.stringContaining("ECONNREFUSED")]);
});

test("a catalog that has lost half of its plans is refused, shown by diff, and served once it is accepted", async () => {
  const control = service.details.upstream.base_url.replace(/\/v1$/, "/_simulator/catalog");
  const plan = { id: 101, network_id: 1, name: "1GB", price: 510, validity: "30 days" };
  const data = { networks: [{ id: 1, name: "MTN", code: "mtn" }], data_plans: [plan] };
  await fetch(control, { method: "PUT", body: JSON.stringify({ status: true, message: "OK", data }) });
  const refused = await admin("catalog", "refresh");
  expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining("halved")]);
  expect((await admin("catalog", "diff")).stdout).toMatch(/price +101 +1 +1GB +510 +500/);
  expect((await admin("catalog", "show")).stdout).toMatch(/Refused \(catalog accept serves it\)/);
  expect(await service.adminJson(["catalog", "accept"])).toEqual({ kind: "accepted", plans: 1 });
  expect((await admin("catalog", "accept")).code).toBe(2);
  await fetch(control, { method: "DELETE" });
  expect(await service.adminJson(["catalog", "refresh"])).toMatchObject({ kind: "replaced" });
});

test("consents show says who made an identity check, when and why, and not whom it was about", async () => {
  const { account, key, keyId } = await service.newApp();
  const nin = "31415926535";
  const checked = await fetch(`${service.details.base_url}/identity/nin/verify`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ nin, is_consent: true, reference: "kyc-7", purpose: "loan \u001b[31m7" }),
  });
  const reference = checked.headers.get("x-transaction-reference") ?? "";
  const consent = await service.adminJson(["consents", "show", reference]);
  expect(consent).toEqual({
    reference,
    account_id: account,
    key_id: keyId,
    mode: "live",
    operation: "nin_verification",
    extent: "basic",
    purpose: "loan \u001b[31m7",
    created_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T/),
    request_id: checked.headers.get("x-request-id"),
  });
  const shown = await admin("consents", "show", "kyc-7", "--account", account);
  expect(shown.stdout).toContain("loan \\u001b[31m7");
  expect(shown.stdout).not.toContain("\u001b[31m7");
  expect(shown.stdout).not.toContain(nin);
});

test("an odd plan is shown as not served beside those that are, and an empty catalog is served once it is accepted", async () => {
  const control = service.details.upstream.base_url.replace(/\/v1$/, "/_simulator/catalog");
  const serve = (plans: readonly unknown[]) => {
    const data = { networks: [{ id: 1, name: "MTN", code: "mtn" }], data_plans: plans };
    return fetch(control, { method: "PUT", body: JSON.stringify({ status: true, message: "OK", data }) });
  };
  const plan = { id: 101, network_id: 1, name: "1GB", price: 500, validity: "30 days" };
  const many = Array.from({ length: 30 }, (_, index) => ({ ...plan, id: 101 + index }));
  await serve([...many, { ...plan, id: 900, price: 0 }]);
  expect(await service.adminJson(["catalog", "refresh"])).toEqual({ kind: "replaced", plans: 30 });
  expect((await admin("catalog", "show")).stdout).toMatch(/not served\)\n.*\n +plan +900 +price/);
  expect((await admin("catalog", "diff")).stdout).toMatch(/Dropped \(invalid\)\n.*\n +plan +900 +price/);
  expect((await admin("doctor")).stdout).toMatch(/catalog +look .*invalid entries dropped: 1/);

  await serve([]);
  const refused = await admin("catalog", "refresh");
  expect([refused.code, refused.stdout]).toEqual([
    1,
    expect.stringMatching(/empty[\s\S]*serve it with catalog accept/),
  ]);
  expect(await service.adminJson(["catalog", "accept"])).toEqual({ kind: "accepted", plans: 0 });
  const nothing = await admin("catalog", "accept");
  expect([nothing.code, nothing.stderr]).toEqual([
    2,
    expect.stringContaining("Only an empty or halved one can be accepted"),
  ]);
  await fetch(control, { method: "DELETE" });
  expect(await service.adminJson(["catalog", "refresh"])).toEqual({ kind: "replaced", plans: 30 });
});

test("doctor is content with a new service, and ends with exit code 1 over a dead letter", async () => {
  const well = await admin("doctor");
  expect([well.code, well.stdout]).toEqual([0, expect.not.stringContaining("wrong")]);
  for (const check of ["upstream key", "address", "catalog", "upstream's webhook", "limits", "dead letters"]) {
    expect(well.stdout).toContain(check);
  }
  const sqs = sqsClient();
  const QueueUrl = `${process.env.OUTCOMES_QUEUE_URL}-dead-letters`;
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "{}" }));
  sqs.destroy();
  const ill = await admin("doctor");
  expect([ill.code, ill.stdout]).toEqual([1, expect.stringMatching(/dead letters +wrong +status: 1/)]);
});

test("secrets are set from the input and rotated, on record without their values", async () => {
  const hmacKey = "k".repeat(32);
  const set = await service.admin(["secrets", "set", "upstream-webhook-hmac", "--why", "new"], `${hmacKey}\n`);
  expect(set.code).toBe(0);
  const rotated = z.object({ webhook_url: z.string() });
  const { webhook_url } = rotated.parse(await service.adminJson(["secrets", "rotate", "webhook-token"]));
  expect(webhook_url).not.toBe(service.details.upstream.webhook_url);
  expect((await admin("doctor")).stdout).toMatch(/upstream's webhook +ok +accepts signed events/);
  const { stdout } = await admin("audit");
  expect(stdout).toMatch(/secrets set +name=upstream-webhook-hmac +new/);
  expect(stdout).not.toContain(hmacKey);
});

test("a key that was rotated already is not rotated again: exit code 2, and no further key is made", async () => {
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

test("announce says how many ends it found, and that a repeated name sends none of them twice", async () => {
  const { key } = await service.newApp();
  await service.buy(key, "08031234567");
  const from = isoTime(Date.now() - 60_000);
  const { stdout } = await admin("announce", "--from", from, "--name", "after-outage");
  expect(stdout).toMatch(/final transactions +[1-9]/);
  expect(stdout).toContain("Webhooks already sent under this name are not sent again.");
});

test("a secret that is set to its current value again keeps its previous version, which is still accepted", async () => {
  const stored = z.object({ "upstream-webhook-hmac": z.string(), previous: z.record(z.string(), z.string()) });
  const versions = () => {
    const kept = stored.parse(JSON.parse(readFileSync(join(service.folder, "data", "secrets.json"), "utf8")));
    return [kept["upstream-webhook-hmac"], kept.previous["upstream-webhook-hmac"]];
  };
  const [older, newer] = ["o".repeat(32), "n".repeat(32)];
  const set = (value: string) => service.admin(["secrets", "set", "upstream-webhook-hmac"], `${value}\n`);
  await set(older);
  await set(newer);
  expect(await set(newer)).toMatchObject({
    code: 0,
    stdout: "upstream-webhook-hmac has this value already: nothing was changed.\n",
  });
  expect(versions()).toEqual([newer, older]);
  await set(service.details.upstream.webhook_secret);
});

test("the new webhook URL is written to standard error before it is set, and then to standard output", async () => {
  const rotated = await admin("secrets", "rotate", "webhook-token");
  const [, url] = /^Setting the new URL for the upstream: (http\S+)\n$/.exec(rotated.stderr) ?? [];
  expect(rotated.code).toBe(0);
  expect(rotated.stdout).toContain(`Give this new URL to the upstream: ${url}\n`);
});
