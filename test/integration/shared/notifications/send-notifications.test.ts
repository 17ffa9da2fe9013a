import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { ListSubscriptionsByTopicCommand, SNSClient } from "@aws-sdk/client-sns";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import * as z from "#zod";
import { personIdOfIdentity } from "../../../../shared/access/person-item.ts";
import { accountsRuns } from "../../../../shared/actions/accounts.ts";
import type { ActionContext, ConsoleRequest } from "../../../../shared/actions/action-context.ts";
import { notificationsRuns } from "../../../../shared/actions/notifications.ts";
import { personRuns } from "../../../../shared/actions/person.ts";
import { walletRuns } from "../../../../shared/actions/wallet.ts";
import { webhookRuns } from "../../../../shared/actions/webhook.ts";
import { ownedAccounts } from "../../../../shared/console/authorisation.ts";
import { type NotificationKind, notificationKind } from "../../../../shared/contract/notification-kinds.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { maskedDigits } from "../../../../shared/contract/values/mask-phones.ts";
import {
  accountPk,
  endpointHealthPk,
  notifiedPk,
  personPk,
  recipientPk,
  walletPk,
} from "../../../../shared/ledger/schema.ts";
import { sendNotifications } from "../../../../shared/notifications/send-notifications.ts";
import { openSns } from "../../../../shared/platform/aws/sdk.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { parseIpRanges } from "../../../../shared/platform/ip-range.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { recordEndpointHealth } from "../../../../shared/webhooks/endpoint-health.ts";
import { createPost } from "../../../../shared/webhooks/post-webhook.ts";
import { loadHandler } from "../../../../tools/local/functions.ts";
import { type Inbox, openInbox } from "../../../../tools/local/inbox.ts";
import { localAwsEnvironment, localClient, setEnvironment } from "../../../../tools/local/local-aws.ts";
import { listenOnLoopback } from "../../../../tools/local/loopback.ts";
import { type LocalQueues, startQueues } from "../../../../tools/local/queues.ts";
import { startSecretsManager } from "../../../../tools/local/secrets.ts";
import { aLambdaContext } from "../../../builders/aws/lambda-context.ts";
import { recordCalls, type SdkCall } from "../../../builders/aws/recorded-calls.ts";
import { beforeEachCall } from "../../../builders/dynamodb/before-each-call.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { dynamodbEndpoint } from "../../../builders/dynamodb/emulator.ts";
import { putItems } from "../../../builders/dynamodb/put-items.ts";
import { dynamoDbRequests } from "../../../builders/iam/dynamodb-requests.ts";
import { evaluate, type IamRequest } from "../../../builders/iam/evaluate.ts";
import { arnOf } from "../../../builders/iam/resolve.ts";
import { stagePolicies } from "../../../builders/iam/roles.ts";
import { anActionContext, anOwnersRequest } from "../../../builders/ledger/action-context.ts";
import { closeMonth } from "../../../builders/ledger/close-month.ts";
import { type LedgerAtNoon, openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { anOldAccount, CLOSED_MONTH } from "../../../builders/ledger/old-account.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { until } from "../../../builders/run/until.ts";
import { everyFunction } from "../../../builders/templates/console.ts";
import { templatesOf } from "../../../builders/templates/templates.ts";
import { firstEndpoint } from "../../../builders/webhooks/endpoint.ts";

/**
 * Goal: each person is notified once of what the person chose and may see, and of nothing else. Method: real tables, the
 * emulator of SNS, whose e-mails arrive in a file, and a chat that is a server.
 */
const ALL_KINDS = notificationKind.options;
const CONSOLE = "https://airtime.example.com/console";

let ledger: LedgerAtNoon;
let sns: LocalQueues;
let inbox: Inbox;
let client: ReturnType<typeof openSns>;
const file = join(tmpdir(), `emails-${process.pid}.txt`);
const arrived: string[] = [];

/** What the chat was posted, and how it answers. */
const chat = { url: "", posted: [] as string[], all: [] as string[], status: 200, onPost: async () => {} };
const server = createServer(async (request, response) => {
  const { text: posted } = z.object({ text: z.string() }).parse(JSON.parse(await text(request)));
  chat.posted.push(posted);
  chat.all.push(posted);
  await chat.onPost();
  response.writeHead(chat.status, { location: "https://elsewhere.example.com/" }).end("ok");
});

beforeAll(async () => {
  sns = await startQueues({});
  inbox = await openInbox(sns, file, (address) => void arrived.push(address));
  const { region, credentials } = localClient(sns.endpoint);
  vi.stubEnv("AWS_REGION", region);
  vi.stubEnv("AWS_ACCESS_KEY_ID", credentials.accessKeyId);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", credentials.secretAccessKey);
  vi.stubEnv("AWS_ENDPOINT_URL_SNS", sns.endpoint);
  client = openSns();
  const port = await listenOnLoopback(server);
  chat.url = `http://127.0.0.1:${port}/services/T0/B0/s3cr3t`;
});
afterAll(async () => {
  server.close();
  client.destroy();
  await inbox.stop();
  await sns.stop();
});
beforeEach(async () => {
  ledger = await openLedgerAtNoon();
  chat.posted.length = 0;
  chat.status = 200;
  chat.onPost = async () => {};
  arrived.length = 0;
});

const addressRules = { allowed: parseIpRanges("127.0.0.0/8"), refusedHosts: [], resolve: async () => [] };
const operators = (): ActionContext => context();
const context = (changes: Partial<ActionContext> = {}): ActionContext => ({
  ...anActionContext(ledger.tables, { clock: ledger.clock }),
  mail: { sns: client, arn: inbox.topicArn },
  addressRules,
  ...changes,
});

type Person = Partial<Pick<ConsoleRequest, "roles" | "owner">>;

/** Someone who may sign in. */
const aPerson = (name: string, { roles = [], owner = { email: `${name}@example.com`, groups: [] } }: Person = {}) => {
  const by = owner.email ?? name;
  const asOf = (person: Required<Person>): ActionContext =>
    context(
      anOwnersRequest({
        ...{ by, identity: name, actor: { by, person: { issuer: "https://login.example.com/", sub: name } } },
        ...person,
        ownedAccounts: () => ownedAccounts(ledger, person.owner),
      }),
    );
  const self = { roles, owner };
  return {
    signIn: (now: Person = {}) => personRuns.me(asOf({ ...self, ...now }), {}),
    choose: async (choice: { email?: NotificationKind[]; slack?: NotificationKind[]; slack_url?: string }) => {
      const { email = [], slack = [], slack_url } = choice;
      await personRuns.me(asOf(self), {});
      const shown = await notificationsRuns["notifications choose"](asOf(self), { email, slack, slack_url });
      // The first message says that messages arrive.
      chat.posted.length = 0;
      return shown;
    },
    show: () => notificationsRuns["notifications show"](asOf(self), {}),
  };
};

const anAccount = async (name: string, ...owners: string[]): Promise<string> => {
  const account = await ledger.anAccount(1_000);
  const all = owners.map((value) => ({ kind: "email" as const, value }));
  await accountsRuns["accounts owners"](operators(), { account, owners: all });
  await changeItem(ledger, accountPk(account), { name });
  return account;
};

/** The next run, after this time; at least 5 minutes. */
const run = async (afterMs = 5 * MINUTE_MS, timeMs = MINUTE_MS) => {
  ledger.nowMs += afterMs;
  const endpoint = { allowed: addressRules.allowed, refusedHosts: [], resolve: addressRules.resolve };
  const deps = {
    ...{ ledger, topic: { sns: client, arn: inbox.topicArn }, post: createPost(endpoint) },
    sealingKey: context().endpoints.webhookSealingKey,
    ...{ timeZone: "Africa/Lagos", stage: "prod", consoleUrl: CONSOLE },
  };
  const denied: IamRequest[] = [];
  const onCall = ({ service, operation, input }: SdkCall): void => {
    if (service !== "DynamoDB") return;
    const requests = dynamoDbRequests(operation, input, () => arnOf("AWS::DynamoDB::Table", "Ledger"));
    denied.push(...requests.filter((request) => evaluate(role, request) !== "allowed"));
  };
  const ran = await recordCalls({ canned: {}, onCall }, () =>
    sendNotifications(deps, deadlineIn(timeMs, ledger.clock)),
  );
  expect(denied).toEqual([]);
  return ran;
};
/** No local service has all findings, so that the calls of these tests are evaluated too. */
const role = stagePolicies(templatesOf("prod", everyFunction)).functions.get("send-notifications") ?? [];

const pass = (ms: number): void => {
  ledger.nowMs += ms;
};

const putAll = (items: readonly object[]) => putItems(ledger.db, ledger.table, items);

const makeLow = async (account: string): Promise<void> => {
  await walletRuns["wallet threshold"](operators(), { account, amount_kobo: 2_000_00 });
};
const endLow = async (account: string): Promise<void> => {
  await walletRuns["wallet threshold"](operators(), { account, amount_kobo: 0 });
};

const makeEndpointDown = async (account: string, switchOff?: true): Promise<void> => {
  const since = isoTime(ledger.nowMs);
  for (const event of ["one", "two", "three"]) {
    await recordEndpointHealth(ledger, { ...firstEndpoint(account), generation: 0 }, { kind: "failing", since, event });
  }
  const last = { kind: "failing", since, event: "four", switchOff } as const;
  if (switchOff) await recordEndpointHealth(ledger, { ...firstEndpoint(account), generation: 0 }, last);
};

/** Bola is to be notified of the low wallet in the chat. */
const aLowWalletOfBola = async () => {
  const account = await anAccount("Checkout", "bola@example.com");
  const bola = aPerson("bola");
  await bola.choose({ slack: ["wallet.low"], slack_url: chat.url });
  await makeLow(account);
  return { account, bola };
};

const PHONE = "08031234567";
const orderOf = (account: string) =>
  ledger.anOpenTransaction(account, { phone_number: PHONE, description: `MTN 1GB data for ${PHONE}` });

test("an owner and an operator are notified of a low wallet, an endpoint that is down and then switched off, a stuck order and a statement", async () => {
  const account = await anAccount(`Checkout ${PHONE}`, "bola@example.com");
  const other = await anAccount("Payroll", "cleo@example.com");
  for (const each of [account, other]) await webhookRuns["webhook set"](operators(), { account: each, url: chat.url });
  const bola = aPerson("bola");
  const ada = aPerson("ada", { roles: ["operator"] });
  await bola.choose({ slack: [...ALL_KINDS], slack_url: chat.url });
  expect(await run()).toEqual({ recipients: 1, sent: 0, not_sent: 0 });

  await makeLow(account);
  await makeLow(other);
  expect(await run()).toEqual({ recipients: 1, sent: 1, not_sent: 0 });
  const masked = "Checkout *********67";
  const end = `You chose this message in the console. Choose others or none at ${CONSOLE}/notifications\nMessages end on 2026-12-21, unless you sign in to the console before.`;
  const low = `The balance of ${masked} is NGN 1,000.00, below its threshold of NGN 2,000.00.`;
  expect(chat.posted).toEqual([
    [
      "prod: Wallet low",
      `${low}\n${CONSOLE}/accounts/${account}`,
      "What to do: Pay in before the balance is used up. An order that costs more than the balance is refused, and charges nothing.",
      end,
    ].join("\n\n"),
  ]);

  await makeEndpointDown(account);
  await makeEndpointDown(other);
  await run();
  expect(chat.posted.slice(1)).toEqual([
    expect.stringContaining(
      `prod: Webhook endpoint down\n\nThe webhook endpoint "Endpoint 1" of ${masked} has been down since 2026-11-21 13:10 (12:10 UTC).`,
    ),
  ]);
  await makeEndpointDown(account, true);
  await run();
  expect(chat.posted.slice(2)).toEqual([
    expect.stringContaining(
      `The webhook endpoint "Endpoint 1" of ${masked} was switched off, because every delivery had failed since`,
    ),
  ]);

  const { pk } = await orderOf(account);
  await orderOf(other);
  await run();
  expect(chat.posted).toHaveLength(3);
  await run(15 * MINUTE_MS);
  const reference = pk.replace("transaction#", "DATA_");
  expect(chat.posted.slice(3)).toEqual([
    expect.stringContaining(
      `prod: Orders without an outcome\n\n1 order of ${masked} has had no outcome for more than 15 minutes. The oldest is ${reference}, NGN 500.00, MTN, of 2026-11-21 13:20 (12:20 UTC).\n${CONSOLE}/accounts/${account}/transactions`,
    ),
  ]);

  ledger.nowMs = Date.parse("2026-12-05T12:00:00.000Z");
  await bola.signIn();
  await run();
  chat.posted.length = 0;
  await closeMonth(operators(), "2026-11", pass);
  ledger.nowMs = Math.ceil(ledger.nowMs / HOUR_MS) * HOUR_MS;
  await run();
  expect(chat.posted).toEqual([
    expect.stringContaining(
      `prod: Statement ready\n\nThe statement of ${masked} for 2026-11 is ready. It is final.\n${CONSOLE}/accounts/${account}/statement?from=2026-11-01&amp;to=2026-11-30\n`,
    ),
  ]);

  // One who works on all accounts chooses later, and gets all that is wrong in one e-mail.
  await ada.choose({ email: [...ALL_KINDS] });
  expect(await run()).toEqual({ recipients: 2, sent: 1, not_sent: 0 });
  await until("the e-mail is in the file", () => arrived.length === 1);
  const emails = readFileSync(file, "utf8");
  expect(emails.match(/^To: .*$/gm)).toEqual(["To: ada@example.com"]);
  expect(emails).toContain("prod: Wallet low and 3 more");
  for (const [id, name] of [
    [account, masked],
    [other, "Payroll"],
  ]) {
    expect(emails).toContain(
      `The balance of ${name} is NGN 500.00, below its threshold of NGN 2,000.00.\n${CONSOLE}/accounts/${id}\n`,
    );
  }
  expect(emails).toContain(`${CONSOLE}/accounts/${other}/webhooks`);
  expect(emails).toContain("2 orders have had no outcome for more than 15 minutes.");
  expect(emails).toContain(
    `2026-11 is closed: the statements of 2 accounts are ready and final.\n${CONSOLE}/periods/2026-11`,
  );

  // No number of a person is in any of them, the three reminders of December included.
  const all = [...chat.all, emails].join("\n").replaceAll(/acc_\w+|\d{4}-\d\d-\d\d/g, "");
  expect(all.match(/^What to do: /gm)).toHaveLength(5 + 3 + 4);
  expect(all).not.toContain(PHONE);
  expect(maskedDigits(all)).toBe(all);
});

describe("noise", () => {
  const aLowWallet = async (): Promise<string> => {
    const { account } = await aLowWalletOfBola();
    await run();
    expect(chat.posted).toHaveLength(1);
    return account;
  };

  test("what lasts is said once, and again after a day; what ended an hour ago and begins again is new", async () => {
    const account = await aLowWallet();
    await run();
    await run(20 * HOUR_MS);
    expect(chat.posted).toHaveLength(1);
    await run(4 * HOUR_MS);
    expect(chat.posted).toHaveLength(2);
    await endLow(account);
    await run();
    await makeLow(account);
    await run(HOUR_MS);
    expect(chat.posted).toHaveLength(3);
  });

  test("what ends and begins again within an hour is said once it lasts for an hour, however long it lasted before", async () => {
    const account = await aLowWallet();
    for (const messages of [2, 3]) {
      await endLow(account);
      await run(20 * MINUTE_MS);
      await makeLow(account);
      await run(20 * MINUTE_MS);
      await run(55 * MINUTE_MS);
      expect(chat.posted).toHaveLength(messages - 1);
      await run();
      expect(chat.posted).toHaveLength(messages);
      await run(5 * HOUR_MS);
      expect(chat.posted).toHaveLength(messages);
    }
  });

  test("a wallet that keeps crossing its threshold is said once a day", async () => {
    const account = await aLowWallet();
    for (let change = 0; change < 27; change += 1) {
      await (change % 2 === 0 ? endLow : makeLow)(account);
      await run(55 * MINUTE_MS);
    }
    expect(chat.posted).toHaveLength(1);
    await makeLow(account);
    await run(55 * MINUTE_MS);
    expect(chat.posted).toHaveLength(2);
  });

  test("a message lists what is still open, of any kind, and all of it is one reminder a day after the last message", async () => {
    const account = await anAccount("Checkout", "bola@example.com");
    await webhookRuns["webhook set"](operators(), { account, url: chat.url });
    await aPerson("bola").choose({ slack: ["wallet.low", "endpoint.down", "order.stuck"], slack_url: chat.url });
    await makeLow(account);
    await run();
    await makeEndpointDown(account);
    await run(5 * HOUR_MS);
    expect(chat.posted).toEqual([
      expect.not.stringContaining("Still open"),
      expect.stringMatching(/^prod: Webhook endpoint down\n.*Still open since earlier messages:\n\nThe balance of/s),
    ]);
    await run(23 * HOUR_MS);
    await run(HOUR_MS);
    await run();
    expect(chat.posted.slice(2)).toEqual([expect.not.stringContaining("Still open")]);
    expect(chat.posted[2]?.match(/^(prod: Wallet low and 1 more|The balance of|The webhook endpoint)/gm)).toHaveLength(
      3,
    );
    await endLow(account);
    await orderOf(account);
    await run(HOUR_MS);
    expect(chat.posted[3]).toMatch(/Still open since earlier messages:\n\nThe webhook endpoint/);
    expect(chat.posted[3]).not.toContain("The balance of");
  });

  test("an order that waited is stuck only 15 minutes after it was sent", async () => {
    const account = await anAccount("Tunde", "tunde@example.com");
    await aPerson("tunde").choose({ slack: ["order.stuck"], slack_url: chat.url });
    const created_at = isoTime(ledger.nowMs - 20 * MINUTE_MS);
    await ledger.anOpenTransaction(account, { created_at, listed_at: created_at, sent_at: isoTime(ledger.nowMs) });
    await run();
    expect(chat.posted).toEqual([]);
    await run(15 * MINUTE_MS);
    expect(chat.posted).toEqual([expect.stringContaining("1 order of Tunde has had no outcome")]);
  });

  test("orders that stay stuck are in a message each day, beside more than 20 low wallets of which one is new each day", async () => {
    const account = await anAccount("Checkout");
    await aPerson("ada", { roles: ["operator"] }).choose({
      slack: ["wallet.low", "order.stuck"],
      slack_url: chat.url,
    });
    for (let count = 0; count < 22; count += 1) await makeLow(await ledger.anAccount(1_000));
    await orderOf(account);
    await run(20 * MINUTE_MS);
    expect(chat.posted).toEqual([expect.stringContaining("no outcome for more than 15 minutes")]);
    for (let day = 0; day < 4; day += 1) {
      await makeLow(await ledger.anAccount(1_000));
      await run(20 * HOUR_MS);
    }
    const later = chat.posted.slice(1);
    expect(later).toHaveLength(4);
    expect(later.filter((each) => each.includes("no outcome for more than 15 minutes")).length).toBeGreaterThan(0);
  });

  test("accounts are looked at every 5 minutes", async () => {
    await aLowWalletOfBola();
    for (let minute = 1; minute <= 4; minute += 1) expect(await run(MINUTE_MS)).toMatchObject({ sent: 0 });
    expect(await run(MINUTE_MS)).toMatchObject({ sent: 1 });
  });
});

describe("who is notified", () => {
  test.each([
    ["whose role was taken away, from the next sign-in on", { roles: [] }, 0],
    ["who has not signed in for 30 days", undefined, 30 * DAY_MS],
  ] as const)("nothing is sent to a person %s", async (_who, now, afterMs) => {
    const account = await anAccount("Checkout");
    const ada = aPerson("ada", { roles: ["operator"] });
    await ada.choose({ slack: ["wallet.low"], slack_url: chat.url });
    await makeLow(account);
    expect(await run()).toMatchObject({ sent: 1 });
    await endLow(account);
    await run();
    await makeLow(account);
    pass(2 * HOUR_MS);
    if (now !== undefined) await ada.signIn(now);
    expect(await run(Math.max(afterMs, 5 * MINUTE_MS))).toEqual({ recipients: 1, sent: 0, not_sent: 0 });
    await ada.signIn();
    expect(await run()).toMatchObject({ sent: 1 });
  });

  test("who has not signed in for 30 days is shown to operators as one whom nothing is sent to", async () => {
    await anAccount("Checkout", "bola@example.com");
    await aPerson("bola").choose({ email: ["wallet.low"], slack: ["wallet.low"], slack_url: chat.url });
    const until = isoTime(ledger.nowMs + 30 * DAY_MS);
    const list = async () => (await notificationsRuns["notifications list"](operators(), {})).recipients;
    expect(await list()).toMatchObject([{ email_status: "on", slack_status: "on", until }]);
    pass(30 * DAY_MS + 1);
    expect(await list()).toMatchObject([{ email_status: "expired", slack_status: "expired", until }]);
  });

  test("nothing is sent to one who no longer owns the account, nor to a member of a group that does not", async () => {
    const account = await anAccount("Checkout", "bola@example.com");
    const group = [{ kind: "group" as const, value: "checkout-team" }];
    const cleo = aPerson("cleo", { owner: { email: "cleo@example.com", groups: ["checkout-team", "another"] } });
    const choice = { slack: ["wallet.low" as const], slack_url: chat.url };
    await aPerson("bola").choose(choice);
    await cleo.choose(choice);
    await makeLow(account);
    expect(await run()).toEqual({ recipients: 2, sent: 1, not_sent: 0 });
    await accountsRuns["accounts owners"](operators(), { account, owners: group });
    await cleo.signIn();
    expect(await run(DAY_MS)).toEqual({ recipients: 2, sent: 1, not_sent: 0 });
  });

  test("an operator ends the notifications of one who left; nothing of the address is kept", async () => {
    const account = await anAccount("Checkout", "bola@example.com");
    const bola = aPerson("bola");
    await bola.choose({ email: ["wallet.low"], slack: ["wallet.low"], slack_url: chat.url });
    await makeLow(account);
    expect(await run()).toMatchObject({ sent: 2 });
    const stop = (person: string) => notificationsRuns["notifications stop"](operators(), { person, why: "left" });
    await expect(stop("nobody@example.com")).rejects.toThrow("nobody@example.com has chosen no notifications");
    expect(await stop("bola@example.com")).toEqual({ stopped: 1 });
    expect(await run(DAY_MS)).toEqual({ recipients: 0, sent: 0, not_sent: 0 });
    expect(await notificationsRuns["notifications list"](operators(), {})).toEqual({ recipients: [] });
    const { Items = [] } = await ledger.db.scan({ TableName: ledger.table });
    const [recipient] = Items.filter(({ pk }) => String(pk).startsWith(recipientPk("")));
    expect(recipient).toEqual({
      ...{ pk: expect.any(String), by: "bola@example.com", version: 2, created_at: expect.any(String) },
    });
    const { Subscriptions = [] } = await new SNSClient(localClient(sns.endpoint)).send(
      new ListSubscriptionsByTopicCommand({ TopicArn: inbox.topicArn }),
    );
    expect(Subscriptions.map(({ Endpoint }) => Endpoint)).not.toContain("bola@example.com");
  });
});

describe("a channel that fails", () => {
  test("is tried 8 times in 11 hours, then given up with an alarm, until the person chooses again", async () => {
    const { bola } = await aLowWalletOfBola();
    const log = captureLog();
    chat.status = 404;
    const attempts: number[] = [];
    for (const minutes of [5, 5, 5, 5, 20, 40, 80, 160, 320, 640]) {
      await run(minutes * MINUTE_MS);
      attempts.push(chat.posted.length);
      if (attempts.length === 1) expect((await bola.show()).slack.status).toBe("failing");
    }
    expect(attempts).toEqual([1, 2, 2, 3, 4, 5, 6, 7, 8, 8]);
    expect(log.lines("notification.not_sent")).toHaveLength(7);
    const [alarm] = log.lines("notification.given_up");
    expect(alarm).toMatchObject({ Alarms: 1, channel: "slack", reason: "status_404", attempts: 8 });
    expect(log.text()).not.toMatch(/bola|s3cr3t|127\.0\.0\.1/);
    expect((await bola.show()).slack).toEqual({
      host: new URL(chat.url).host,
      kinds: ["wallet.low"],
      status: "given_up",
    });
    chat.status = 200;
    expect(await run()).toMatchObject({ sent: 0, not_sent: 0 });
    await bola.choose({ slack: ["wallet.low"] });
    expect(await run()).toMatchObject({ sent: 1, not_sent: 0 });
    expect((await bola.show()).slack.status).toBe("on");
  });

  test("is tried 8 times for what is wrong then: what ended does not count, unless the channel is given up", async () => {
    const { account, bola } = await aLowWalletOfBola();
    const log = captureLog();
    chat.status = 404;
    const fail = async (attempts: number): Promise<void> => {
      await makeLow(account);
      for (let attempt = 0; attempt < attempts; attempt += 1) await run(11 * HOUR_MS);
      await endLow(account);
      await run(11 * HOUR_MS);
    };
    await fail(7);
    expect((await bola.show()).slack.status).toBe("on");
    await fail(8);
    expect(log.lines("notification.given_up")).toHaveLength(1);
    expect(log.lines("notification.not_sent")).toHaveLength(7 + 7);
    expect((await bola.show()).slack.status).toBe("given_up");
  });

  test("a run that cannot record what it sent to one person notifies the others, and fails", async () => {
    const names = Array.from({ length: 12 }, (_, count) => `owner${count}`);
    const account = await anAccount("Checkout", ...names.map((name) => `${name}@example.com`));
    for (const name of names) await aPerson(name).choose({ slack: ["wallet.low"], slack_url: chat.url });
    await makeLow(account);
    const put = vi.spyOn(ledger.db, "put").mockRejectedValueOnce(new Error("no answer"));
    onTestFinished(() => put.mockRestore());
    await expect(run()).rejects.toThrow("no answer");
    expect(chat.posted).toHaveLength(12);
    expect(await run()).toMatchObject({ sent: 1 });
    expect(await run()).toMatchObject({ sent: 0 });
  });

  test("is one at the service's own host, which the function never calls", async () => {
    await aLowWalletOfBola();
    const sealingKey = (await context().endpoints.webhookSealingKey.value()) ?? "";
    const secrets = await startSecretsManager({ "webhook-key": sealingKey });
    onTestFinished(secrets.stop);
    onTestFinished(
      setEnvironment({
        ...localAwsEnvironment({ dynamodb: dynamodbEndpoint, sqs: sns.endpoint, secretsManager: secrets.endpoint }),
        ...{ LEDGER_TABLE: ledger.table, NOTIFICATIONS_TOPIC_ARN: inbox.topicArn, CONSOLE_URL: CONSOLE },
        ...{ WEBHOOK_ALLOWED_CIDRS: "127.0.0.0/8", WEBHOOK_REFUSED_HOSTS: new URL(chat.url).host },
        ...{ WEBHOOK_KEY_SECRET_ID: "webhook-key", TIME_ZONE: "Africa/Lagos" },
      }),
    );
    vi.useFakeTimers({ toFake: ["Date"], now: ledger.nowMs });
    onTestFinished(() => void vi.useRealTimers());
    const handler = await loadHandler("send-notifications", new URL("../../../../functions/", import.meta.url));
    const log = captureLog();
    await handler({}, aLambdaContext());
    expect(chat.posted).toEqual([]);
    expect(log.lines("notification.not_sent")).toMatchObject([{ channel: "slack", reason: "address_refused" }]);
  });

  test("does not keep another channel, or another person, from being notified", async () => {
    const account = await anAccount("Checkout", "bola@example.com", "cleo@example.com");
    await aPerson("bola").choose({ email: ["wallet.low"], slack: ["wallet.low"], slack_url: chat.url });
    await aPerson("cleo").choose({ email: ["wallet.low"] });
    await makeLow(account);
    captureLog();
    // A redirect is not followed.
    chat.status = 302;
    expect(await run()).toEqual({ recipients: 2, sent: 2, not_sent: 1 });
    chat.status = 200;
    expect(await run()).toEqual({ recipients: 2, sent: 1, not_sent: 0 });
    expect(chat.posted).toHaveLength(2);
  });
});

describe("choosing", () => {
  test("a chat's URL is stored once it has taken a message, and is in no answer, item or audit entry", async () => {
    await anAccount("Checkout", "bola@example.com");
    const bola = aPerson("bola");
    const choice = { slack: ["wallet.low" as const], slack_url: chat.url };
    const { host } = new URL(chat.url);
    chat.status = 403;
    await expect(bola.choose(choice)).rejects.toThrow(`${host} did not take a message (status_403): check the URL`);
    await expect(bola.choose({ ...choice, slack_url: "https://10.0.0.7/hook" })).rejects.toThrow(
      "not a public address",
    );
    await expect(bola.choose({ slack: ["wallet.low"] })).rejects.toThrow("Give the chat's webhook URL");
    expect(await bola.show()).toMatchObject({ slack: { host: null, status: "off" } });
    chat.status = 200;
    const answer = await bola.choose(choice);
    expect(answer.slack).toEqual({ host, kinds: ["wallet.low"], status: "on" });
    const tables = [ledger.table, ledger.auditTable];
    const items = await Promise.all(tables.map(async (TableName) => (await ledger.db.scan({ TableName })).Items));
    const list = await notificationsRuns["notifications list"](operators(), {});
    expect(JSON.stringify([answer, items, list])).not.toContain("s3cr3t");
    expect(JSON.stringify(items[1])).toContain(`"slack_host":"${host}"`);
  });

  test("a choice that was made before an operator ended a person's notifications does not undo that", async () => {
    await anAccount("Checkout", "bola@example.com");
    const bola = aPerson("bola");
    const choice = { slack: ["wallet.low" as const], slack_url: chat.url };
    await bola.choose(choice);
    chat.onPost = async () => {
      chat.onPost = async () => {};
      await notificationsRuns["notifications stop"](operators(), { person: "bola@example.com" });
    };
    await expect(bola.choose(choice)).rejects.toThrow("were changed at the same time");
    expect(await notificationsRuns["notifications list"](operators(), {})).toEqual({ recipients: [] });
    await bola.choose(choice);
    expect((await bola.show()).slack.status).toBe("on");
  });

  test("an address is the verified one of the person, and is subscribed to the person's own messages only", async () => {
    const nobody = aPerson("dayo", { roles: ["reader"], owner: { groups: [] } });
    await expect(nobody.choose({ email: ["wallet.low"] })).rejects.toThrow(
      "has not verified an e-mail address for you",
    );
    await anAccount("Checkout", "bola@example.com");
    const bola = aPerson("bola");
    expect((await bola.show()).email).toEqual({ address: "bola@example.com", kinds: [], status: "off" });
    const { email } = await bola.choose({ email: ["wallet.low"] });
    expect(email).toEqual({ address: "bola@example.com", kinds: ["wallet.low"], status: "on" });
    expect((await bola.choose({})).email).toMatchObject({ kinds: [], status: "off" });
  });

  test("what an address that takes no e-mails would have got is sent once it takes them, with nothing given up", async () => {
    const account = await anAccount("Checkout", "bola@example.com", "cleo@example.com");
    for (const name of ["bola", "cleo"]) await aPerson(name).choose({ email: ["wallet.low"] });
    await makeLow(account);
    const list = vi.spyOn(client, "listSubscriptionsByTopic");
    onTestFinished(() => list.mockRestore());
    const put = vi.spyOn(ledger.db, "put");
    onTestFinished(() => put.mockRestore());
    for (const SubscriptionArn of ["PendingConfirmation", "Deleted"]) {
      list.mockClear();
      const Subscriptions = ["bola", "cleo"].map((name) => ({ Endpoint: `${name}@example.com`, SubscriptionArn }));
      list.mockResolvedValueOnce({ $metadata: {}, Subscriptions });
      expect(await run(DAY_MS)).toEqual({ recipients: 2, sent: 0, not_sent: 0 });
      expect(list).toHaveBeenCalledTimes(1);
    }
    expect(put).not.toHaveBeenCalled();
    expect(await run()).toEqual({ recipients: 2, sent: 2, not_sent: 0 });
    list.mockClear();
    expect(await run()).toMatchObject({ sent: 0 });
    expect(list).not.toHaveBeenCalled();
  });

  test("an e-mail goes to the address that the provider verified at the last sign-in, once it is subscribed", async () => {
    const account = await anAccount("Checkout");
    const bola = aPerson("bola", { roles: ["finance"] });
    await bola.choose({ email: ["wallet.low"] });
    await makeLow(account);
    const moved = aPerson("bola", { roles: ["finance"], owner: { email: "bola@example.org", groups: [] } });
    await moved.signIn();
    expect(await run()).toMatchObject({ sent: 0, not_sent: 0 });
    expect((await moved.show()).email).toMatchObject({ address: "bola@example.org", status: "unsubscribed" });
    expect((await notificationsRuns["notifications list"](operators(), {})).recipients).toMatchObject([
      { email_status: "unsubscribed" },
    ]);
    await moved.choose({ email: ["wallet.low"] });
    expect(await run()).toMatchObject({ sent: 1 });
    await until("the e-mail is in the file", () => arrived.length === 1);
    expect(arrived).toEqual(["bola@example.org"]);
  });

  test("a topic that is full takes a new address in the place of those to which nothing is sent, after 30 days without a sign-in or once the person has another, and of no other one", async () => {
    const withRole = (name: string) => aPerson(name, { roles: ["finance"] });
    const [bola, cleo, dayo] = [withRole("bola"), withRole("cleo"), withRole("dayo")];
    await bola.choose({ email: ["wallet.low"] });
    await cleo.choose({ email: ["wallet.low"] });
    const subscribe = vi.spyOn(client, "subscribe");
    onTestFinished(() => subscribe.mockRestore());
    const isFull = Object.assign(new Error("full"), { name: "FilterPolicyLimitExceededException" });
    pass(30 * DAY_MS);
    subscribe.mockRejectedValueOnce(isFull);
    await expect(dayo.choose({ email: ["wallet.low"] })).rejects.toThrow("AWS accepts no more e-mail addresses");
    await cleo.signIn();
    pass(DAY_MS);
    subscribe.mockRejectedValueOnce(isFull);
    expect((await dayo.choose({ email: ["wallet.low"] })).email.status).toBe("on");
    await bola.signIn();
    const shown = await Promise.all([bola, cleo, dayo].map((person) => person.show()));
    expect(shown.map(({ email }) => email.status)).toEqual(["unsubscribed", "on", "on"]);
    await aPerson("cleo", { owner: { email: "cleo@example.org", groups: [] } }).signIn();
    subscribe.mockRejectedValueOnce(isFull);
    await bola.choose({ email: ["wallet.low"] });
    await cleo.signIn();
    expect((await cleo.show()).email.status).toBe("unsubscribed");
  });

  test("what SNS says of an address is shown", async () => {
    await anAccount("Checkout", "bola@example.com");
    const bola = aPerson("bola");
    await bola.choose({ email: ["wallet.low"] });
    const list = vi.spyOn(client, "listSubscriptionsByTopic");
    onTestFinished(() => list.mockRestore());
    const answer = (Subscriptions: { Endpoint: string; SubscriptionArn: string }[], NextToken?: string) =>
      list.mockResolvedValueOnce({ $metadata: {}, Subscriptions, ...(NextToken !== undefined && { NextToken }) });
    const other = { Endpoint: "ada@example.com", SubscriptionArn: "arn:1" };
    const own = (SubscriptionArn: string) => ({ Endpoint: "Bola@example.com", SubscriptionArn });
    answer([other, own("Deleted")], "next");
    answer([own("PendingConfirmation")]);
    expect((await bola.show()).email.status).toBe("unconfirmed");
    answer([own("Deleted"), own("PendingConfirmation")], "next");
    answer([own("arn:2")]);
    expect((await bola.show()).email.status).toBe("on");
    answer([other, own("Deleted")]);
    expect((await bola.show()).email.status).toBe("unsubscribed");
    answer([other]);
    expect((await bola.show()).email.status).toBe("unsubscribed");
    const unsubscribe = vi.spyOn(client, "unsubscribe");
    onTestFinished(() => unsubscribe.mockRestore());
    answer([other, own("Deleted"), own("PendingConfirmation")]);
    await bola.choose({});
    expect(unsubscribe).not.toHaveBeenCalled();
  });
});

describe("what has the form of a later release, as after a rollback", () => {
  const later = [{ kinds: ["of a later release"] }];

  type Of = { readonly account: string; readonly id: string };
  test.each<[string, (of: Of) => Promise<unknown>]>([
    ["an account", ({ account }) => changeItem(ledger, accountPk(account), { endpoints: later })],
    ["a wallet", ({ account }) => changeItem(ledger, walletPk(account), { balance_kobo: "later" })],
    [
      "an endpoint's health",
      async ({ account }) => {
        await webhookRuns["webhook set"](operators(), { account, url: chat.url });
        await makeEndpointDown(account);
        await changeItem(ledger, endpointHealthPk(firstEndpoint(account)), { status: "later" });
      },
    ],
    [
      "an open order",
      async ({ account }) => {
        await ledger.makeUnreadable((await orderOf(account)).pk);
        pass(HOUR_MS);
      },
    ],
    ["a choice", ({ id }) => changeItem(ledger, recipientPk(id), { slack: later[0] })],
    ["a person", ({ id }) => changeItem(ledger, personPk(id), { roles: ["later"] })],
    ["a record of messages", ({ id }) => changeItem(ledger, notifiedPk(id), { by_slack: "later" })],
  ])("%s raises an alarm, and keeps nobody else from being notified", async (_what, make) => {
    await aPerson("ada", { roles: ["operator"] }).choose({ slack: ALL_KINDS, slack_url: chat.url });
    const id = personIdOfIdentity("ada");
    const account = await anAccount("Checkout");
    await makeLow(await anAccount("Payroll", "bola@example.com"));
    await aPerson("bola").choose({ slack: ALL_KINDS, slack_url: chat.url });
    await make({ account, id });
    const log = captureLog();
    await run();
    expect(chat.posted).toContainEqual(expect.stringContaining("The balance of Payroll is"));
    expect(chat.posted).toContainEqual(expect.stringContaining("Choose others or none"));
    expect(log.lines().filter(({ Alarms }) => Alarms === 1)).toMatchObject([
      { event: "notification.record_unreadable", error: "$ZodError" },
    ]);
  });

  test("a record of messages that cannot be read is not replaced", async () => {
    await aPerson("ada", { roles: ["operator"] }).choose({ slack: ALL_KINDS, slack_url: chat.url });
    const id = personIdOfIdentity("ada");
    await makeLow(await anAccount("Payroll"));
    await changeItem(ledger, notifiedPk(id), { by_slack: "later" });
    expect(await run()).toMatchObject({ sent: 0 });
    const { Item } = await ledger.db.get({ TableName: ledger.table, Key: { pk: notifiedPk(id) } });
    expect(Item).toMatchObject({ by_slack: "later" });
  });
});

test(`the month ${CLOSED_MONTH} that was closed long ago is no news`, async () => {
  await aPerson("ada", { roles: ["finance"] }).choose({ slack: ["statement.ready"], slack_url: chat.url });
  await anOldAccount(ledger, CLOSED_MONTH);
  await closeMonth(operators(), CLOSED_MONTH, pass);
  ledger.nowMs = Math.ceil(ledger.nowMs / HOUR_MS) * HOUR_MS;
  expect(await run(4 * DAY_MS)).toMatchObject({ sent: 0 });
});

test("months that are closed one after the other are each news", async () => {
  await aPerson("ada", { roles: ["finance"] }).choose({ slack: ["statement.ready"], slack_url: chat.url });
  await anOldAccount(ledger, "2026-09");
  for (const month of ["2026-09", "2026-10"]) await closeMonth(operators(), month, pass);
  ledger.nowMs = Math.ceil(ledger.nowMs / HOUR_MS) * HOUR_MS;
  await run();
  expect(chat.posted).toEqual([expect.stringMatching(/2026-09 is closed: [\s\S]*2026-10 is closed: /)]);
});

describe("more than a run has time for", () => {
  /** How long each read of up to a hundred items takes. */
  const readsTake = (ms: number) => beforeEachCall(ledger.db, "batchGet", () => pass(ms));
  const nextRun = () => run(5 * MINUTE_MS - (ledger.nowMs % (5 * MINUTE_MS)));

  test("each account is looked at by some run, and one that a run has no time for counts as unchanged", async () => {
    await aPerson("ada", { roles: ["operator"] }).choose({ slack: ["wallet.low"], slack_url: chat.url });
    const accounts = Array.from({ length: 1_040 }, (_, index) => ({
      account_id: `acc_${String(index).padStart(18, "0")}`,
      isLow: index % 40 === 0,
    }));
    await putAll(tillsOf(accounts));
    readsTake(2_500);
    for (let count = 0; count < 12; count += 1) {
      const ran = await nextRun();
      expect(ran.unchecked).toBeGreaterThan(0);
      expect(ran.unreached).toBeUndefined();
    }
    const said = chat.posted.join("\n");
    for (const { account_id, isLow } of accounts) expect(said.includes(`/accounts/${account_id}`)).toBe(isLow);
    // Longer than what has ended is remembered.
    for (let count = 0; count < 6; count += 1) {
      pass(HOUR_MS);
      expect((await nextRun()).sent).toBe(0);
    }
  });

  test("those that a run has no time for are among the 200 of which a person is notified", async () => {
    await aPerson("ada", { roles: ["operator"] }).choose({ slack: ["wallet.low"], slack_url: chat.url });
    const ids = Array.from({ length: 1_040 }, (_, index) => `acc_${String(index).padStart(18, "0")}`);
    await putAll(tillsOf(ids.map((account_id) => ({ account_id, isLow: true }))));
    readsTake(2_500);
    expect(await nextRun()).toMatchObject({ sent: 1 });
    for (let count = 0; count < 4; count += 1) {
      const ran = await nextRun();
      expect(ran.unchecked).toBeGreaterThan(0);
      expect(ran.sent).toBe(0);
    }
  });

  test("of many stuck orders the oldest one is named, and how many there are at least", async () => {
    await aPerson("ada", { roles: ["operator"] }).choose({ slack: ["order.stuck"], slack_url: chat.url });
    await putAll(Array.from({ length: 1_000 }, () => ledger.aTransaction("acc_1")));
    pass(15 * MINUTE_MS);
    readsTake(6_000);
    expect(await nextRun()).toMatchObject({ sent: 1 });
    expect(chat.posted).toEqual([expect.stringMatching(/At least \d00 orders have had no outcome/)]);
  });

  test("people whom a run does not reach are counted", async () => {
    await aPerson("ada", { roles: ["operator"] }).choose({ slack: ["wallet.low"], slack_url: chat.url });
    expect(await run(5 * MINUTE_MS, 10_000)).toEqual({ recipients: 1, sent: 0, not_sent: 0, unreached: 1 });
  });
});

const tillsOf = (accounts: readonly { readonly account_id: string; readonly isLow: boolean }[]): readonly object[] =>
  accounts.flatMap(({ account_id, isLow }) => [
    {
      ...{ pk: accountPk(account_id), account_id, name: "Till", owners: [], endpoints: [] },
      ...{ list_key: "accounts", created_at: isoTime(ledger.nowMs) },
    },
    { pk: walletPk(account_id), account_id, balance_kobo: 0, low_balance_threshold_kobo: isLow ? 1 : 0 },
  ]);

test("a person is notified once, by a message that lists 20 wallets, and the record fits its item, however many are low", async () => {
  const ada = aPerson("ada", { roles: ["operator"] });
  await ada.choose({ slack: ["wallet.low"], slack_url: chat.url });
  const ids = Array.from({ length: 1_000 }, (_, index) => `acc_${String(index).padStart(18, "0")}`);
  await putAll(tillsOf(ids.map((account_id) => ({ account_id, isLow: true }))));
  expect(await run()).toMatchObject({ sent: 1 });
  expect(chat.posted[0]?.match(/The balance of/g)).toHaveLength(20);
  expect(chat.posted).toEqual([expect.stringMatching(/180 more are in the console.*800 are in the console alone/s)]);
  expect(await run()).toMatchObject({ sent: 0 });
  expect(chat.posted).toHaveLength(1);
});

test("the record fits its item also where those that a person is notified of end in each run, and others follow", async () => {
  const ada = aPerson("ada", { roles: ["operator"] });
  await ada.choose({ email: ["wallet.low"], slack: ["wallet.low"], slack_url: chat.url });
  const runs = 8;
  // The longest ids: fewer accounts fill an item.
  const accounts = Array.from({ length: runs * 200 }, (_, index) => `acc_${String(index).padStart(56, "0")}`);
  await putAll(tillsOf(accounts.map((account_id) => ({ account_id, isLow: true }))));
  for (let count = 0; count < runs; count += 1) {
    expect(await run()).toMatchObject({ sent: 2, not_sent: 0 });
    const notified = accounts.slice(count * 200, (count + 1) * 200);
    await putAll(tillsOf(notified.map((account_id) => ({ account_id, isLow: false }))));
  }
  expect(await run()).toMatchObject({ sent: 0, not_sent: 0 });
  // The latest ones that ended are remembered: they are said again only once they last for an hour.
  await putAll(tillsOf(accounts.slice(-200).map((account_id) => ({ account_id, isLow: true }))));
  expect(await run()).toMatchObject({ sent: 0, not_sent: 0 });
});
