import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test, vi } from "vitest";
import { createAccount } from "../../../../shared/access/accounts.ts";
import { accountsRuns } from "../../../../shared/actions/accounts.ts";
import { webhookRuns } from "../../../../shared/actions/webhook.ts";
import { readAudit } from "../../../../shared/ledger/audit.ts";
import { subscriptionKeyBatches } from "../../../../shared/ledger/query-index.ts";
import { endpointKeyOf } from "../../../../shared/ledger/schema.ts";
import { OperatorError } from "../../../../shared/platform/operator-error.ts";
import { requireEndpoint } from "../../../../shared/webhooks/endpoint.ts";
import { startDynamoDbProxy } from "../../../builders/dynamodb/dynamodb-proxy.ts";
import { dynamodbEndpoint } from "../../../builders/dynamodb/emulator.ts";
import { emulatorClient, freshTables } from "../../../builders/dynamodb/tables.ts";
import { anActionContext } from "../../../builders/ledger/action-context.ts";
import { aReceiver, LOOPBACK } from "../../../builders/webhooks/endpoint.ts";
import { standardHeaders } from "../../../builders/webhooks/receiver.ts";
import type { WireFault } from "../../../strict/faults.ts";

const tables = await freshTables();

/** The Standard Webhooks library compares timestamps with the machine's time. */
const context = () => anActionContext(tables, { clock: Date.now, addressRules: LOOPBACK });
const anAccount = async () => (await createAccount(context().accounts, { name: "app", whitelist: [] })).account_id;

test("the secret is in the answer to the first URL only, and webhook show never has it", async () => {
  const account = await anAccount();
  const first = await webhookRuns["webhook set"](context(), { account, url: "http://127.0.0.1:9001/", why: "go live" });
  expect(first).toEqual({
    account_id: account,
    endpoint: "1",
    name: "Endpoint 1",
    url: "http://127.0.0.1:9001/",
    webhook_secret: expect.stringMatching(/^whsec_/),
    events: ["transaction.updated"],
    requeued: 0,
  });
  const second = await webhookRuns["webhook set"](context(), {
    account,
    url: "http://127.0.0.1:9002/",
    events: ["transaction.updated", "wallet.low"],
  });
  expect(second).toMatchObject({ webhook_secret: null, events: ["transaction.updated", "wallet.low"] });
  const shown = JSON.stringify(await webhookRuns["webhook show"](context(), { account }));
  expect(shown).not.toContain(String(first.webhook_secret).slice("whsec_".length));
  expect(await readAudit(context().ledger, account)).toMatchObject([
    { action: "webhook set", by: "ada", why: "go live", details: { url: "http://127.0.0.1:9001/" } },
    { action: "webhook set", details: { url: "http://127.0.0.1:9002/", events: "transaction.updated,wallet.low" } },
  ]);
});

test("a secret in the query of the endpoint's URL is posted to, and in no answer, view or audit entry", async () => {
  const account = await anAccount();
  const paths: unknown[] = [];
  const receiver = await aReceiver((response) => {
    paths.push(response.req.url);
    response.end("ok");
  });
  const url = `${receiver.url}?token=s3cr3t&s3cr3t&sig=s3cr3t=#s3cr3t`;
  const shown = `${receiver.url}?token=***&***&sig=***`;
  const set = await webhookRuns["webhook set"](context(), { account, url });
  const tested = await webhookRuns["webhook test"](context(), { account });
  const view = await webhookRuns["webhook show"](context(), { account });
  const listed = await accountsRuns["accounts show"](context(), { account });
  for (const answer of [set, tested, view, listed.webhook]) expect(answer).toMatchObject({ url: shown });
  expect(JSON.stringify([set, tested, view, listed])).not.toContain("s3cr3t");
  const audit = await readAudit(context().ledger, account);
  expect(audit).toMatchObject([{ details: { url: shown } }, { details: { url: shown } }]);
  expect(JSON.stringify(audit)).not.toContain("s3cr3t");
  expect(paths).toEqual(["/hook?token=s3cr3t&s3cr3t&sig=s3cr3t="]);

  await expect(webhookRuns["webhook set"](context(), { account, url: shown })).rejects.toThrow("masked values");
  const withPassword = receiver.url.replace("//", "//ada:s3cr3t@");
  await expect(webhookRuns["webhook set"](context(), { account, url: withPassword })).rejects.toThrow("credentials");
  expect(await readAudit(context().ledger, account)).toHaveLength(2);
});

test("an endpoint that another person has changed since it was seen keeps its URL, name, status and events", async () => {
  const account = await anAccount();
  const [old, other] = ["http://127.0.0.1:9001/?token=a", "http://127.0.0.1:9002/"];
  await webhookRuns["webhook set"](context(), { account, url: old, name: "Books" });
  const before = { name: "Books", url: "http://127.0.0.1:9001/?token=***", status: "on" } as const;
  const shown = () => webhookRuns["webhook show"](context(), { account });
  const rename = (seen: Record<keyof typeof before, string> & { status: "on" | "off" }) =>
    webhookRuns["webhook set"](context(), { account, url: old, name: "Ledger", before: seen });
  const changed = "Another person has changed the endpoint";

  await webhookRuns["webhook set"](context(), { account, url: other });
  await expect(rename(before)).rejects.toThrow(changed);
  expect(await shown()).toMatchObject({ url: other, name: "Books" });
  await webhookRuns["webhook set"](context(), { account, url: old });
  await expect(rename({ ...before, name: "Shop" })).rejects.toThrow(changed);
  await webhookRuns["webhook disable"](context(), { account });
  await expect(rename(before)).rejects.toThrow(changed);
  expect(await shown()).toMatchObject({ name: "Books", status: "off" });
  await rename({ ...before, status: "off" });
  expect(await shown()).toMatchObject({ name: "Ledger", status: "on" });
  await webhookRuns["webhook set"](context(), { account, url: old, name: "Books" });
  await rename(before);
  // The answer was lost.
  await rename(before);
  expect(await shown()).toMatchObject({ name: "Ledger", status: "on" });

  const events = ["transaction.updated", "wallet.low"] as const;
  const choose = () =>
    webhookRuns["webhook events"](context(), { account, events: [...events], before: ["transaction.updated"] });
  await webhookRuns["webhook events"](context(), { account, events: ["catalog.updated"] });
  await expect(choose()).rejects.toThrow(changed);
  expect(await shown()).toMatchObject({ events: ["catalog.updated"] });
  await webhookRuns["webhook events"](context(), { account, events: ["transaction.updated"] });
  await choose();
  await choose();
  expect(await shown()).toMatchObject({ events });
});

/** A client of the same tables whose calls of one operation meet a fault. */
const faultyClient = async (operation: string, fault: WireFault) => {
  const proxy = await startDynamoDbProxy(dynamodbEndpoint);
  onTestFinished(proxy.stop);
  proxy.fault = (call) => (call.operation === operation ? fault : undefined);
  return emulatorClient(proxy.endpoint);
};

test("a first URL that cannot be written is not set, with its events, and the next try shows its secret", async () => {
  const account = await anAccount();
  const input = { account, url: "http://127.0.0.1:9001/", events: ["wallet.low" as const] };
  const { endpoints, accounts, ...rest } = context();
  const deaf = { ...accounts, db: await faultyClient("TransactWriteItems", "never_arrives") };
  const broken = { ...rest, accounts: deaf, endpoints: { ...endpoints, accounts: deaf } };
  await expect(webhookRuns["webhook set"](broken, input)).rejects.toThrow();
  expect(await webhookRuns["webhook show"](context(), { account })).toMatchObject({ url: null, status: "none" });
  expect(await webhookRuns["webhook set"](context(), input)).toMatchObject({
    webhook_secret: expect.stringMatching(/^whsec_/),
    events: ["wallet.low"],
  });
});

test("a first URL that was set although the write got no answer shows its secret", async () => {
  const account = await anAccount();
  const { endpoints, accounts, ...rest } = context();
  const lossy = { ...accounts, db: await faultyClient("TransactWriteItems", "answer_lost") };
  const changed = { ...rest, accounts: lossy, endpoints: { ...endpoints, accounts: lossy } };
  const { webhook_secret } = await webhookRuns["webhook set"](changed, { account, url: "http://127.0.0.1:9001/" });
  expect((await requireEndpoint(context().endpoints, account)).secrets).toEqual([webhook_secret]);
});

test("a URL that webhooks may not reach changes no events", async () => {
  const account = await anAccount();
  const input = { account, url: "http://10.0.0.1/", events: ["wallet.low" as const] };
  await expect(webhookRuns["webhook set"](context(), input)).rejects.toThrow(OperatorError);
  expect(await webhookRuns["webhook show"](context(), { account })).toMatchObject({ events: [], url: null });
});

test("a test event is signed with the account's secret, and the answer is judged and shown", async () => {
  const account = await anAccount();
  const receiver = await aReceiver(
    (response, count) =>
      void response.writeHead(count === 1 ? 302 : 204, { location: "https://new.example.com/" }).end(),
  );
  const { webhook_secret } = await webhookRuns["webhook set"](context(), { account, url: receiver.url });
  expect(await webhookRuns["webhook test"](context(), { account })).toEqual({
    account_id: account,
    endpoint: "1",
    url: receiver.url,
    webhook_id: receiver.received[0]?.headers.id,
    ok: false,
    http_status: 302,
    reason: null,
    response_headers: { date: expect.any(String), location: "https://new.example.com/" },
    duration_ms: expect.any(Number),
    requeued: 0,
  });
  expect(await webhookRuns["webhook test"](context(), { account })).toMatchObject({ ok: true, http_status: 204 });
  expect(receiver.received).toHaveLength(2);
  for (const event of receiver.received) new Webhook(String(webhook_secret)).verify(event.body, standardHeaders(event));
});

test("a test event to an address that webhooks may not reach is refused before it connects", async () => {
  const account = await anAccount();
  const receiver = await aReceiver();
  await webhookRuns["webhook set"](context(), { account, url: receiver.url });
  const guarded = { ...context(), addressRules: { ...LOOPBACK, allowed: [] } };
  expect(await webhookRuns["webhook test"](guarded, { account })).toMatchObject({
    ok: false,
    http_status: null,
    reason: "address_refused",
    response_headers: null,
  });
  expect(receiver.received).toEqual([]);
  await expect(webhookRuns["webhook set"](guarded, { account, url: receiver.url })).rejects.toThrow(OperatorError);
});

test("an account without an endpoint gets no test event and chooses no events, and the sentence names no command", async () => {
  const account = await anAccount();
  const sentence = `Account ${account} has no webhook endpoint`;
  await expect(webhookRuns["webhook test"](context(), { account })).rejects.toMatchObject({ sentence });
  await expect(webhookRuns["webhook events"](context(), { account, events: ["wallet.low"] })).rejects.toMatchObject({
    sentence,
    message: `${sentence}. Set one with webhook set`,
  });
  await expect(webhookRuns["webhook test"](context(), { account })).rejects.toThrow(OperatorError);
  expect(await readAudit(context().ledger, account)).toEqual([]);
});

test("a disabled endpoint is shown as off until it is enabled, each with an audit entry", async () => {
  const account = await anAccount();
  await webhookRuns["webhook set"](context(), { account, url: "http://127.0.0.1:9001/" });
  expect(await webhookRuns["webhook disable"](context(), { account, why: "ticket 7" })).toMatchObject({
    status: "off",
  });
  expect(await webhookRuns["webhook enable"](context(), { account })).toMatchObject({ status: "on" });
  expect((await readAudit(context().ledger, account)).map(({ action, why }) => [action, why])).toEqual([
    ["webhook set", undefined],
    ["webhook disable", "ticket 7"],
    ["webhook enable", undefined],
  ]);
});

test("a change of an endpoint and a test that are not recorded are errors", async () => {
  const account = await anAccount();
  await webhookRuns["webhook set"](context(), { account, url: "http://127.0.0.1:9/" });
  const transactWrite = vi.spyOn(tables.db, "transactWrite");
  for (const change of [
    () => webhookRuns["webhook disable"](context(), { account }),
    () => webhookRuns["webhook enable"](context(), { account }),
    () => webhookRuns["webhook test"](context(), { account }),
    () => webhookRuns["webhook remove"](context(), { account, endpoint: "1" }),
  ]) {
    transactWrite.mockRejectedValueOnce(new Error("No answer"));
    await expect(change()).rejects.toThrow("No answer");
  }
  transactWrite.mockRestore();
});

test("endpoints are added up to five, each with its own secret and events, and an id is used once", async () => {
  const account = await anAccount();
  const urlOf = (port: number) => `http://127.0.0.1:${port}/`;
  const add = (port: number, more: object = {}) =>
    webhookRuns["webhook add"](context(), { account, url: urlOf(port), ...more });
  const first = await add(9001);
  const second = await add(9002, { name: "Books", events: ["wallet.low"], why: "for finance" });
  expect(second).toMatchObject({ endpoint: "2", name: "Books", events: ["wallet.low"], requeued: 0 });
  expect(second.webhook_secret).not.toBe(first.webhook_secret);
  await expect(add(9002)).rejects.toThrow("Endpoint 2 (Books) has this URL");
  expect((await readAudit(context().ledger, account)).at(-1)).toMatchObject({
    action: "webhook add",
    why: "for finance",
    details: { endpoint: "2", url: urlOf(9002), events: "wallet.low" },
  });
  for (const port of [9003, 9004, 9005]) await add(port);
  await expect(add(9006)).rejects.toThrow("has 5 webhook endpoints");
  await webhookRuns["webhook remove"](context(), { account, endpoint: "5", why: "not in use" });
  expect(await add(9006)).toMatchObject({ endpoint: "6" });
  const { endpoints } = await webhookRuns["webhook list"](context(), { account });
  expect(endpoints.map(({ endpoint, name }) => [endpoint, name])).toEqual([
    ["1", "Endpoint 1"],
    ["2", "Books"],
    ["3", "Endpoint 3"],
    ["4", "Endpoint 4"],
    ["6", "Endpoint 6"],
  ]);
});

test("with several endpoints a change is about the one that is named, and refused without a name", async () => {
  const account = await anAccount();
  const { webhook_secret: first } = await webhookRuns["webhook set"](context(), {
    account,
    url: "http://127.0.0.1:1/",
  });
  const { webhook_secret: second } = await webhookRuns["webhook add"](context(), {
    account,
    url: "http://127.0.0.1:2/",
  });
  const refusal = `Account ${account} has several webhook endpoints: 1 (Endpoint 1), 2 (Endpoint 2)`;
  for (const name of ["webhook show", "webhook disable", "webhook enable", "webhook test"] as const) {
    await expect(webhookRuns[name](context(), { account }), name).rejects.toThrow(refusal);
  }
  await expect(webhookRuns["webhook set"](context(), { account, url: "http://127.0.0.1:3/" })).rejects.toThrow(refusal);
  const unknown = webhookRuns["webhook disable"](context(), { account, endpoint: "3" });
  await expect(unknown).rejects.toThrow("has no webhook endpoint 3");

  const on = { account, endpoint: "2" };
  await webhookRuns["webhook disable"](context(), on);
  await webhookRuns["webhook events"](context(), { ...on, events: ["catalog.updated"] });
  const { webhook_secret: rotated } = await webhookRuns["webhook secret rotate"](context(), { ...on, why: "leaked" });
  const secretsOf = async (id: string) => (await requireEndpoint(context().endpoints, account, id)).secrets;
  expect([await secretsOf("1"), await secretsOf("2")]).toEqual([[first], [rotated, second]]);
  const rotation = { action: "webhook secret rotate", why: "leaked", details: { endpoint: "2" } };
  expect(await readAudit(context().ledger, account)).toContainEqual(expect.objectContaining(rotation));
  expect((await webhookRuns["webhook list"](context(), { account })).endpoints).toMatchObject([
    { status: "on", events: ["transaction.updated"] },
    { status: "off", events: ["catalog.updated"] },
  ]);
});

test("the choice of an event begins a subscription of the endpoint, another choice and its removal end it", async () => {
  const account = await anAccount();
  const { ledger } = context();
  const subscribed = async () => {
    const keys: string[] = [];
    for await (const page of subscriptionKeyBatches(ledger, "wallet.low")) keys.push(...page.map(({ pk }) => pk));
    return keys.filter((pk) => pk.includes(account)).map((pk) => endpointKeyOf(pk).endpoint);
  };
  for (const port of [1, 2]) {
    await webhookRuns["webhook add"](context(), { account, url: `http://127.0.0.1:${port}/`, events: ["wallet.low"] });
  }
  expect(new Set(await subscribed())).toEqual(new Set(["1", "2"]));
  await webhookRuns["webhook events"](context(), { account, endpoint: "1", events: ["limit.near"] });
  expect(await subscribed()).toEqual(["2"]);
  await webhookRuns["webhook remove"](context(), { account, endpoint: "2", why: "not in use" });
  expect(await subscribed()).toEqual([]);
});
