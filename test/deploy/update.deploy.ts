import { setTimeout as sleep } from "node:timers/promises";
import { CloudFormationClient, paginateListStackResources } from "@aws-sdk/client-cloudformation";
import { GetQueueAttributesCommand, GetQueueUrlCommand, SQSClient } from "@aws-sdk/client-sqs";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { standardHeaders, startReceiver } from "../builders/receiver.ts";
import { checkOutCommit, checkOutThisTree } from "./checkout.ts";
import { bootstrap, deployStage } from "./deployed-stage.ts";
import { startEmulator } from "./emulator.ts";
import { deletedByUpgrade, hasPreviousRelease, previousRelease, SKIPPED } from "./previous-release.ts";
import { type Answer, type PlacedOrder, startTraffic, type Traffic } from "./traffic.ts";

/**
 * Goal: the steps of docs/upgrading.md update a stage from the previous release to this tree under
 * traffic: no request fails, no message is lost, and keys, wallets and transactions stay.
 */

const LOOPBACK = "127.0.0.1";
const FUNDS_NAIRA = 1_000;
/** Two of each kind. */
const ORDERS = 10;
/** A message whose function ended in the middle comes back after its visibility time-out of 3 minutes. */
const WEBHOOK_MS_MAX = 200_000;

/** Webhooks to this machine: the previous release has a setting for them, which this one refuses without a VPC. */
const LOOPBACK_WEBHOOKS = { webhookAllowedCidrs: [`${LOOPBACK}/32`] };
const LOOPBACK_VARIABLES = { WEBHOOK_ALLOWED_CIDRS: `${LOOPBACK}/32` };

/** Runs an update, and resolves with what was observed before, during and after it. */
const rehearse = async () => {
  const [emulator, receiver] = [await startEmulator(LOOPBACK_VARIABLES), await startReceiver()];
  const [previous, tree] = [await checkOutCommit(previousRelease.commit), await checkOutThisTree()];
  const close = async (): Promise<void> => {
    await emulator.stop();
    await receiver.stop();
    previous.remove();
    tree.remove();
  };
  Object.assign(process.env, emulator.environment);
  const operate = async (folder: string, ...args: readonly string[]): Promise<unknown> => {
    const command = ["run", "--silent", "admin", "--", "--stage", "sandbox", "--json", ...args];
    const { code, stdout, stderr } = await emulator.run(folder, "npm", ...command);
    if (code !== 0) throw new Error(`admin ${args.join(" ")} ended with ${code}: ${stdout}${stderr}`);
    return JSON.parse(stdout);
  };
  try {
    await bootstrap(emulator, previous.folder);
    // It had CDK's own qualifier: docs/upgrading.md.
    await bootstrap(emulator, tree.folder);
    previous.setSettings("sandbox", LOOPBACK_WEBHOOKS);
    const { baseUrl } = await deployStage(emulator, "sandbox", previous.folder);
    const app = await setUpApp((...args) => operate(previous.folder, ...args), receiver.url);
    const traffic = startTraffic(baseUrl, app.keys);
    await until(() => traffic.taken().length >= ORDERS);
    const earlier = traffic.taken().slice(0, ORDERS);
    await until(async () => (await statuses(traffic, earlier)).every((status) => status !== "processing"));
    const answers = await replayAll(traffic, earlier);
    const resources = await physicalIds();

    // Step 1.
    previous.setSettings("sandbox", { ...LOOPBACK_WEBHOOKS, purchases: "off" });
    await deployStage(emulator, "sandbox", previous.folder);
    await until(() => traffic.counts.postponed > 0);
    const takenBefore = traffic.taken().length;
    // Step 2.
    await untilEmpty("sandbox-airtime-status", "sandbox-airtime-status-dead-letters");
    // Step 3.
    await deployStage(emulator, "sandbox", tree.folder);
    await until(() => traffic.taken().length >= takenBefore + ORDERS);
    await traffic.stop();
    return {
      app,
      receiver,
      traffic,
      before: { earlier, answers, resources },
      operate: (...args: readonly string[]) => operate(tree.folder, ...args),
      diff: () => emulator.run(tree.folder, "npm", "run", "diff", "--", "--stage", "sandbox", "--fail"),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};

describe.skipIf(!hasPreviousRelease)(`an update from the previous release under traffic ${SKIPPED}`, () => {
  let rehearsal: Awaited<ReturnType<typeof rehearse>>;
  beforeAll(async () => {
    rehearsal = await rehearse();
  }, 900_000);
  afterAll(() => rehearsal?.close());

  test("no request fails, and while the stage does not sell, orders are refused without a transaction", () => {
    const { failures, counts } = rehearsal.traffic;
    expect(failures).toEqual([]);
    expect(counts.requests).toBeGreaterThan(4 * ORDERS);
    expect(counts.postponed).toBeGreaterThan(0);
  });

  test("every order is one transaction, with the final status that the interface says", async () => {
    const { traffic } = rehearsal;
    const expected = new Map(traffic.placed.map(({ reference, ends }) => [reference, ends]));
    expect(expected.size).toBe(traffic.placed.length);
    await expect.poll(() => allTransactions(traffic), { timeout: 40_000, interval: 2_000 }).toEqual(expected);
    expect(await rehearsal.operate("transactions", "list", "--open")).toEqual({ transactions: [] });
  });

  test("every transaction's webhook arrives, signed with the secret from before the update", {
    timeout: WEBHOOK_MS_MAX + 10_000,
  }, async () => {
    const { traffic, receiver, app } = rehearsal;
    const webhook = new Webhook(app.webhook_secret);
    const expected = new Set(traffic.placed.map(({ reference, ends }) => `${reference} ${ends}`));
    const arrived = () =>
      new Set(
        receiver.received.map((event) => {
          const { data } = eventOf.parse(webhook.verify(event.body, standardHeaders(event)));
          return `${data.reference} ${data.status}`;
        }),
      );
    await expect.poll(arrived, { timeout: WEBHOOK_MS_MAX, interval: 500 }).toEqual(expected);
  });

  test("orders from before the update are replayed with the same answer after it, which may have more fields", async () => {
    const { traffic, before } = rehearsal;
    expect(new Set(before.answers.map(({ isReplay }) => isReplay))).toEqual(new Set([true]));
    expect(await replayAll(traffic, before.earlier)).toMatchObject(before.answers);
  });

  test("a bank transfer from before the update is not credited again, and wallet and entries agree", async () => {
    const { operate, app } = rehearsal;
    await operate("wallet", "fund", app.account_id, String(FUNDS_NAIRA), "--id", "transfer-1");
    expect(await operate("wallet", "verify", "--all")).toEqual({
      ok: true,
      wallets: [{ account_id: app.account_id, ok: true, balance: FUNDS_NAIRA, expected: FUNDS_NAIRA, difference: 0 }],
    });
  });

  test("the doctor finds nothing wrong, and nothing is left to change", async () => {
    expect(await rehearsal.operate("doctor")).toMatchObject({ ok: true });
    const { code, stdout, stderr } = await rehearsal.diff();
    expect([code, stdout + stderr]).toEqual([0, expect.stringContaining("Number of stacks with differences: 0")]);
  });

  test("tables, secrets, queues, topics and the API are those from before, but for the queues that Upgrading names", async () => {
    const after = await physicalIds();
    const { resources } = rehearsal.before;
    expect(new Set([...resources.keys()].map((key) => key.split(" ")[0]))).toEqual(new Set(STATEFUL));
    const changed = [...resources].filter(([key, id]) => after.get(key) !== id).map(([key]) => key);
    expect(new Set(changed)).toEqual(new Set(deletedByUpgrade));
  });
});

const eventOf = z.object({ data: z.object({ reference: z.string(), status: z.string() }) });

/** Waits for a condition; the time limit of the hook ends it. */
const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await condition())) await sleep(1_000);
};

const page = z.object({
  data: z.object({
    transactions: z.array(z.object({ reference: z.string(), status: z.string() })),
    next_cursor: z.string().nullable(),
  }),
});

/** The statuses of all transactions of the app, by reference. */
const allTransactions = async (traffic: Traffic): Promise<Map<string, string>> => {
  const found = new Map<string, string>();
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { text } = await traffic.get(`/transactions${cursor && `?cursor=${cursor}`}`);
    const { data } = page.parse(JSON.parse(text));
    for (const { reference, status } of data.transactions) found.set(reference, status);
    cursor = data.next_cursor;
  }
  return found;
};

const statuses = async (traffic: Traffic, orders: readonly PlacedOrder[]): Promise<(string | undefined)[]> => {
  const found = await allTransactions(traffic);
  return orders.map(({ reference }) => found.get(reference));
};

/** The message is for people, and a release may word it differently. */
const withoutMessage = z.looseObject({ message: z.string() }).transform(({ message: _, ...rest }) => rest);

const replayAll = async (traffic: Traffic, orders: readonly PlacedOrder[]) => {
  const answers: Answer[] = [];
  for (const order of orders) answers.push(await traffic.replay(order));
  return answers.map(({ text, ...answer }) => ({ ...answer, body: withoutMessage.parse(JSON.parse(text)) }));
};

const accountOf = z.object({ account_id: z.string() });
const keyOf = z.object({ key: z.string() });
const webhookOf = z.object({ webhook_secret: z.string() });

/** An app with three keys, money and an endpoint, as docs/deployment.md sets it up. */
const setUpApp = async (operate: (...args: readonly string[]) => Promise<unknown>, endpoint: string) => {
  await operate("secrets", "rotate", "webhook-token");
  const { account_id } = accountOf.parse(await operate("accounts", "create", "app"));
  await operate("ips", "allow", account_id, LOOPBACK);
  await operate("wallet", "fund", account_id, String(FUNDS_NAIRA), "--id", "transfer-1");
  const { webhook_secret } = webhookOf.parse(await operate("webhook", "set", account_id, endpoint));
  const newKey = async () => keyOf.parse(await operate("keys", "create", account_id, "--mode", "test")).key;
  return { account_id, webhook_secret, keys: [await newKey(), await newKey(), await newKey()] as const };
};

/** The types of resources that keep state, or are known to others by their address. */
const STATEFUL = [
  "AWS::ApiGatewayV2::Api",
  "AWS::DynamoDB::Table",
  "AWS::SNS::Topic",
  "AWS::SQS::Queue",
  "AWS::SecretsManager::Secret",
];

/** The physical ids of the stage's stateful resources by type and logical id. */
const physicalIds = async (): Promise<Map<string, string>> => {
  const client = new CloudFormationClient({});
  const ids = new Map<string, string>();
  for (const StackName of ["Sandbox-Data", "Sandbox-Service"]) {
    for await (const { StackResourceSummaries = [] } of paginateListStackResources({ client }, { StackName })) {
      for (const { LogicalResourceId, ResourceType = "", PhysicalResourceId = "" } of StackResourceSummaries) {
        if (STATEFUL.includes(ResourceType)) ids.set(`${ResourceType} ${LogicalResourceId}`, PhysicalResourceId);
      }
    }
  }
  return ids;
};

/** Waits until queues have had no message twice in a row. */
const untilEmpty = async (...names: readonly string[]): Promise<void> => {
  const sqs = new SQSClient({});
  for (let empty = 0; empty < 2; ) {
    const counts = await Promise.all(
      names.map(async (QueueName) => {
        const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName }));
        const AttributeNames = [
          "ApproximateNumberOfMessages",
          "ApproximateNumberOfMessagesNotVisible",
          "ApproximateNumberOfMessagesDelayed",
        ] as const;
        const { Attributes = {} } = await sqs.send(
          new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...AttributeNames] }),
        );
        return AttributeNames.map((name) => Number(Attributes[name]));
      }),
    );
    empty = counts.flat().every((count) => count === 0) ? empty + 1 : 0;
    await sleep(1_000);
  }
};
