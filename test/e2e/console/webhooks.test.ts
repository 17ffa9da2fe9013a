import { randomUUID } from "node:crypto";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { createKey } from "../../../shared/access/accounts.ts";
import { koboFromNaira } from "../../../shared/contract/money.ts";
import { readAudit, SERVICE } from "../../../shared/ledger/audit.ts";
import { openTransaction } from "../../../shared/ledger/open-transaction.ts";
import { referenceOf } from "../../../shared/ledger/transaction.ts";
import type { EventMessage } from "../../../shared/orders/outcome-queue.ts";
import { sqsClient } from "../../../shared/platform/aws-clients.ts";
import { deadlineIn } from "../../../shared/platform/deadline.ts";
import { isoTime } from "../../../shared/platform/time.ts";
import { recordEvent } from "../../../shared/upstream-events/stored-event.ts";
import { expectAccessible } from "../../builders/browser.ts";
import { consoleTests, type Page } from "../../builders/console-pages.ts";
import { aTransactionPk } from "../../builders/event-message.ts";
import { standardHeaders, startReceiver } from "../../builders/receiver.ts";
import { anOrder, BUY_DATA, transactionOf } from "../../builders/service.ts";
import { signIn as tokenOf } from "../../builders/sign-in.ts";
import { aTransaction } from "../../builders/transaction.ts";

const { service, signIn, expectError } = consoleTests({ announces: true });

const aReceiver = async (...options: Parameters<typeof startReceiver>) => {
  const receiver = await startReceiver(...options);
  onTestFinished(receiver.stop);
  return receiver;
};
const webhookPath = (account: string): string => `/accounts/${account}/webhook`;
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const link = (page: Page, name: string) => page.getByRole("link", { name, exact: true });
const dialog = (page: Page) => page.getByRole("dialog");
/** Sends the form of the open dialog. */
const confirm = (page: Page, name: string) => dialog(page).getByRole("button", { name, exact: true }).click();

type Person = Parameters<typeof tokenOf>[1];
const tokens = new Map<Person, Promise<string>>();
const authorizationOf = async (person: Person): Promise<string> => {
  const url = service().consoleUrl;
  const { issuer } = z.object({ issuer: z.string() }).parse(await (await fetch(`${url}/config.json`)).json());
  const token = tokens.get(person) ?? tokenOf({ url, issuer }, person);
  tokens.set(person, token);
  return `Bearer ${await token}`;
};

/** A request as the page sends it, by a person who need not see the button. */
const send = async (person: Person, name: string, input: Readonly<Record<string, string>>) => {
  const authorization = await authorizationOf(person);
  const path = `${service().consoleUrl}-api/${name.replaceAll(" ", "/")}`;
  const isRead = /(list|show|candidates)$/.test(name);
  const response = await (isRead
    ? fetch(`${path}?${new URLSearchParams(input)}`, { headers: { authorization } })
    : fetch(path, {
        method: "POST",
        headers: { authorization, "content-type": "application/json" },
        body: JSON.stringify(input),
      }));
  return { status: response.status, body: await response.text() };
};

const POLLING = { timeout: 5_000 };
const stateOf = async (name: string, account: string) => (await send("operator", name, { account })).body;

test("an owner mends a dead endpoint by the console alone: attempts, another URL, a test event, a replay", async () => {
  const account = service().demoAccount;
  const { key } = await createKey(service().accounts, account, { mode: "live" });
  const dead = await aReceiver(
    (response) => void response.writeHead(410, { server: "nginx", location: "https://new.example.com/hook" }).end(),
  );
  const alive = await aReceiver();

  await send("owner", "webhook set", { account, url: dead.url });
  const { reference } = transactionOf(await service().call("POST", BUY_DATA, { key, body: anOrder() }));
  // The endpoint says that it is gone, so it is disabled at once.
  await expect.poll(() => stateOf("webhook show", account)).toContain('"status":"off"');

  const page = await signIn("owner", webhookPath(account));
  await link(page, reference).click();
  await page.getByRole("heading", { name: `Attempts of ${reference}` }).waitFor();
  await page.getByText("HTTP 410").waitFor();
  await page.getByText("location: https://new.example.com/hook").waitFor();
  await page.getByText("webhook-signature: not shown").waitFor();
  await page.getByText("Disabled: nothing is sent").waitFor();
  await expectAccessible(page);

  await button(page, "Change URL").click();
  await dialog(page).getByLabel("URL").fill(alive.url);
  await confirm(page, "Change URL");
  await page.getByText("Enabled", { exact: true }).waitFor();
  await button(page, "Send test event").click();
  await confirm(page, "Send test event");
  await page.getByText("The endpoint accepted it").waitFor();

  await button(page, `Replay ${reference}`).click();
  await confirm(page, "Replay");
  await page.getByText("Delivered", { exact: true }).first().waitFor();
  const bodies = alive.received.map(({ body }) => JSON.parse(body));
  expect(bodies).toMatchObject([{ event: "webhook.test" }, { data: { reference, status: "success" } }]);
  expect((await readAudit(service().ledger, account)).map(({ by, action }) => [by, action])).toEqual([
    ["owner@example.com", "webhook set"],
    ["owner@example.com", "webhook set"],
    ["owner@example.com", "webhook test"],
    ["owner@example.com", "deliveries replay"],
  ]);
});

test("an endpoint that was down works again with an accepted test event, and gets at once what waited for it", async () => {
  const account = service().demoAccount;
  const { key } = await createKey(service().accounts, account, { mode: "live" });
  let status = 500;
  const receiver = await aReceiver((response) => void response.writeHead(status).end());
  await send("owner", "webhook set", { account, url: receiver.url });
  const orders = await Promise.all(
    [1, 2, 3].map(() => service().call("POST", BUY_DATA, { key, body: anOrder({ reference: randomUUID() }) })),
  );
  const references = orders.map((order) => transactionOf(order).reference);
  await expect.poll(() => stateOf("webhook show", account)).toContain('"down":true');

  const page = await signIn("owner", `${webhookPath(account)}?reference=${references[0]}`);
  await page.getByText("Webhooks wait until the endpoint works again").waitFor();
  status = 200;
  await button(page, "Send test event").click();
  await confirm(page, "Send test event");
  await page.getByText("The endpoint accepted it").waitFor();
  await page.getByText("Does not fail").waitFor();
  const delivered = () =>
    receiver.received.flatMap(
      ({ body }) =>
        z.object({ data: z.object({ reference: z.string().optional() }) }).parse(JSON.parse(body)).data.reference ?? [],
    );
  await expect.poll(() => new Set(delivered()).size).toBe(3);
  await page.getByText("Delivered", { exact: true }).first().waitFor();
});

test("an endpoint that refuses connections is described in words, and a test event of another URL is not shown", async () => {
  const account = service().demoAccount;
  const refused = await startReceiver();
  await refused.stop();
  await send("owner", "webhook set", { account, url: refused.url });
  const page = await signIn("owner", webhookPath(account));
  await button(page, "Send test event").click();
  await dialog(page).getByLabel("Reason").and(page.locator(":focus")).waitFor();
  await confirm(page, "Send test event");
  await page.getByText("No usable answer: Connection refused (ECONNREFUSED)").waitFor();
  await button(page, "Change URL").click();
  await dialog(page)
    .getByLabel("URL")
    .fill((await aReceiver()).url);
  await confirm(page, "Change URL");
  await page.getByText("No usable answer").waitFor({ state: "detached" });
});

test("the signing secret is shown once, and after a rotation both secrets verify what the endpoint gets", async () => {
  const { accountId } = await service().newCaller();
  const receiver = await aReceiver();
  const page = await signIn("operator", webhookPath(accountId));
  const shownSecret = async (): Promise<string> => {
    const secret = await dialog(page).locator("pre").innerText();
    await button(page, "I have saved it").click();
    await dialog(page).waitFor({ state: "detached" });
    expect(await page.content()).not.toContain(secret);
    return secret;
  };
  await button(page, "Set URL").click();
  await dialog(page).getByLabel("URL").fill(receiver.url);
  await confirm(page, "Set URL");
  const first = await shownSecret();

  await button(page, "Choose events").click();
  await dialog(page).getByLabel("wallet.low").check();
  await confirm(page, "Choose events");
  await page.getByText("transaction.updated, wallet.low").waitFor();

  await button(page, "Rotate secret").click();
  await dialog(page).getByLabel("Reason").fill("it was in a log");
  await dialog(page).getByLabel(`Type ${accountId} to confirm`).fill("acc_other");
  await confirm(page, "Rotate secret");
  await dialog(page).getByText(`Type exactly ${accountId}`).waitFor();
  await dialog(page).getByLabel(`Type ${accountId} to confirm`).fill(accountId);
  await confirm(page, "Rotate secret");
  await dialog(page).getByText("It is shown only now").waitFor();
  const second = await shownSecret();

  await button(page, "Disable").click();
  await confirm(page, "Disable");
  await page.getByText("Disabled: nothing is sent").waitFor();
  await button(page, "Send test event").click();
  await confirm(page, "Send test event");
  await page.getByText("The endpoint accepted it").waitFor();
  await button(page, "Enable").click();
  await confirm(page, "Enable");
  await page.getByText("Enabled", { exact: true }).waitFor();
  const [event] = receiver.received;
  if (event === undefined) throw new Error("Nothing arrived");
  for (const secret of [first, second]) new Webhook(secret).verify(event.body, standardHeaders(event));
});

test("a URL that may not be reached is refused in the dialog, and nothing changes", async () => {
  expectError(/409/);
  const { accountId } = await service().newCaller();
  const page = await signIn("operator", webhookPath(accountId));
  await button(page, "Set URL").click();
  await dialog(page).getByLabel("URL").fill("https://10.0.0.7/hook");
  await confirm(page, "Set URL");
  await dialog(page).getByText("10.0.0.7 is at 10.0.0.7, which is not a public address.").waitFor();
  await confirm(page, "Cancel");
  await page.getByText("There is no endpoint").waitFor();
});

test("a reader sees the webhook page without buttons that change, and the requests are refused", async () => {
  const { demoAccount: account } = service();
  const page = await signIn("reader", webhookPath(account));
  await page.getByRole("heading", { name: "Deliveries" }).waitFor();
  for (const name of ["Set URL", "Change URL", "Enable", "Disable", "Rotate secret", "Send test event"]) {
    expect(await button(page, name).count(), name).toBe(0);
  }
  const why = "because";
  const answers = await Promise.all([
    send("reader", "webhook set", { account, url: "https://app.example.com/" }),
    send("reader", "webhook test", { account }),
    send("reader", "webhook secret rotate", { account, why }),
    send("reader", "deliveries replay", { account, reference: "DATA_1" }),
    send("reader", "events discard", { event: "event_1", why }),
    send("reader", "dead-letters redrive", { queue: "delivery", why }),
    send("owner", "events list", {}),
    send("owner", "dead-letters list", {}),
    send("visitor", "webhook show", { account }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 403));
  const asReader = await send("reader", "webhook show", { account });
  expect(asReader.status).toBe(200);
});

test("another owner's endpoint does not exist for an owner, nor a foreign delivery under the own account", async () => {
  const { demoAccount } = service();
  const { accountId, key } = await service().newCaller();
  const receiver = await aReceiver();
  await send("operator", "webhook set", { account: accountId, url: receiver.url });
  const { reference } = transactionOf(await service().call("POST", BUY_DATA, { key, body: anOrder() }));
  await expect.poll(() => receiver.received.length).toBe(1);
  const own = await send("operator", "deliveries show", { account: accountId, reference });
  expect(own.status).toBe(200);
  const answers = await Promise.all([
    send("owner", "webhook show", { account: accountId }),
    send("owner", "webhook set", { account: accountId, url: receiver.url }),
    send("owner", "deliveries show", { account: demoAccount, reference }),
    send("owner", "deliveries replay", { account: demoAccount, reference }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  expect(receiver.received).toHaveLength(1);
});

/** An order of 500 NGN of a new account, whose request was cut off an hour ago. */
const anOpenOrder = async () => {
  const { accountId } = await service().newCaller();
  const at = isoTime(Date.now() - 3_600_000);
  const transaction = aTransaction({
    ...{ pk: await aTransactionPk(), list_key: `${accountId}#live`, account_id: accountId, write_token: randomUUID() },
    ...{ phone_number: "08031234567", created_at: at, updated_at: at },
  });
  expect(await openTransaction(service().ledger, transaction, [], deadlineIn(29_000))).toEqual({ kind: "opened" });
  return { accountId, reference: referenceOf(transaction) };
};

const anEvent = async (changes: Partial<EventMessage> = {}): Promise<string> => {
  const reference = `U-${randomUUID()}`;
  const event: EventMessage = {
    ...{ kind: "event", mode: "live", received_at: isoTime(Date.now()), reference, status: "success" },
    ...{ type: "data", amount_kobo: koboFromNaira(500), phone: { hmac: "h", masked: "0803****567" } },
    ...changes,
  };
  await recordEvent(service().ledger, event, "several_candidates");
  return reference;
};

test("an operator compares an event with its candidates, matches one that differs, and discards another event", async () => {
  expectError(/409/);
  const order = await anOpenOrder();
  const differing = await anEvent({ amount_kobo: koboFromNaira(450) });
  const unrelated = await anEvent({ status: "failed", type: "airtime" });
  const page = await signIn("operator", "/unmatched");
  await link(page, differing).click();
  const comparison = page.getByRole("region", { name: "The event and the orders that it may be about" });
  await comparison.getByRole("columnheader", { name: order.reference }).waitFor();
  await comparison.getByRole("row", { name: /^Amount .*450\.00.*500\.00.* differs$/ }).waitFor();
  expect(await comparison.getByText("differs", { exact: true }).count()).toBe(1);
  await expectAccessible(page);

  const match = `Match ${order.reference}`;
  await button(page, match).click();
  await dialog(page).getByLabel("Reason").fill("same number, ticket 88");
  await dialog(page).getByLabel(`Type ${order.reference} to confirm`).fill(order.reference);
  await confirm(page, "Match");
  await dialog(page).getByText(`The event differs from ${order.reference} in amount`).waitFor();
  await dialog(page).getByLabel("Match them although they differ").check();
  await confirm(page, "Match");
  await page.getByText(`${order.reference} was settled as the event says.`).waitFor();
  expect(await readAudit(service().ledger, order.accountId)).toMatchObject([
    { by: "operator@example.com", action: "events match", why: "same number, ticket 88" },
  ]);

  await link(page, unrelated).click();
  await discard(page, unrelated);
  await page.getByText("No event waits for a decision.").waitFor();
});

/** Discards the event that is shown. Returns its id. */
const discard = async (page: Page, reference: string, before: (event: string) => Promise<unknown> = async () => {}) => {
  await button(page, `Discard ${reference}`).click();
  const confirmation = dialog(page).getByLabel(/^Type event_/);
  const label = await dialog(page)
    .getByText(/^Type event_/)
    .innerText();
  const event = /event_\S+/.exec(label)?.[0] ?? "";
  await dialog(page).getByLabel("Reason").fill("the upstream tested");
  await confirmation.fill(event);
  await before(event);
  await confirm(page, "Discard");
};

test("an operator who decides second is refused, and sees the first decision", async () => {
  expectError(/409/);
  const reference = await anEvent();
  const page = await signIn("operator", "/unmatched");
  await link(page, reference).click();
  await discard(page, reference, (event) => send("operator", "events discard", { event, why: "ticket 89" }));
  await dialog(page).getByText("is discarded already").waitFor();
  await confirm(page, "Cancel");
  await page.getByText("Discarded", { exact: true }).first().waitFor();
  expect(await button(page, `Discard ${reference}`).count()).toBe(0);
});

test("an operator sees what was given up without its contents, and sends it again", async () => {
  const url = z.string().parse(process.env.DELIVERY_QUEUE_URL);
  const { accountId, key } = await service().newCaller();
  const receiver = await aReceiver();
  const { reference } = transactionOf(await service().call("POST", BUY_DATA, { key, body: anOrder() }));
  await expect.poll(() => stateOf("deliveries list", accountId)).toContain("no_endpoint");
  await send("operator", "webhook set", { account: accountId, url: receiver.url });
  const sqs = sqsClient();
  const body = {
    event: "transaction.updated",
    transaction: `transaction#${reference.split("_")[1]}`,
    status: "success",
    repeat: "given-up",
  };
  await sqs.send(new SendMessageCommand({ QueueUrl: `${url}-dead-letters`, MessageBody: JSON.stringify(body) }));
  sqs.destroy();

  const page = await signIn("operator", "/dead-letters");
  const webhooks = page.getByRole("region", { name: "Webhooks" });
  await webhooks.getByRole("row", { name: new RegExp(`transaction.updated ${reference}`) }).waitFor();
  await expectAccessible(page);
  await button(page, "Send again Webhooks").click();
  await dialog(page).getByLabel("Reason").fill("the cause is mended");
  await dialog(page).getByLabel("Type delivery to confirm").fill("delivery");
  await confirm(page, "Send again");
  await page.getByText("1 message was sent again.").waitFor();
  await expect
    .poll(() => receiver.received.map(({ body: text }) => JSON.parse(text)), POLLING)
    .toMatchObject([{ data: { reference } }]);
  await webhooks.waitFor({ state: "detached" });
  expect((await readAudit(service().ledger, SERVICE)).at(-1)).toMatchObject({
    by: "operator@example.com",
    action: "dead-letters redrive",
    why: "the cause is mended",
  });
});

test("the pages are accessible in dark colours on a phone", async () => {
  const { accountId, key } = await service().newCaller();
  await service().call("POST", BUY_DATA, { key, body: anOrder() });
  await expect.poll(() => stateOf("deliveries list", accountId)).toContain("no_endpoint");
  await anEvent();
  const page = await signIn("operator", webhookPath(accountId), { colorScheme: "dark", viewport: "phone" });
  await page.getByRole("table").waitFor();
  await expectAccessible(page);
  await page.goto(`${service().consoleUrl}/unmatched`);
  await page.getByRole("table").waitFor();
  await expectAccessible(page);
});
