import { appendFileSync, readFileSync } from "node:fs";
import { CloudFormationClient, paginateListStackResources } from "@aws-sdk/client-cloudformation";
import * as z from "zod";
import { projectRoot } from "../../infra/bundle/bundle.ts";
import { stackName } from "../../infra/outputs.ts";
import type { Stages } from "../../infra/stages.ts";
import { headers } from "../../shared/contract/headers.ts";
import { sleep } from "../../shared/platform/time.ts";
import { startReceiver } from "../builders/receiver.ts";
import { readDocument } from "../contract/document.ts";
import type { Received } from "../contract/exchange.ts";
import { type Checkout, checkOut } from "./checkout.ts";
import { bootstrap, deployStage } from "./deployed-stage.ts";
import { ACCOUNT, type Emulator, REGION, startEmulator } from "./emulator.ts";
import { startTlsUpstream } from "./tls-upstream.ts";
import { type PlacedOrder, startTraffic, type Traffic } from "./traffic.ts";

export const STAGE = "rehearsal";
export const FUNDS_NAIRA = 1_000_000;
const UPSTREAM_KEY = "live_0123456789abcdef0123456789abcdef";
const LOOPBACK = "127.0.0.1";

export type StageChange = Partial<Stages[string]>;

/** The settings of a stage whose functions reach the upstream's simulator and the app's endpoint on loopback. */
const stagesWith = (upstreamBaseUrl: string, changes: StageChange): Stages => ({
  [STAGE]: {
    upstreamBaseUrl,
    upstreamWebhookIps: [LOOPBACK],
    webhookAllowedCidrs: [`${LOOPBACK}/32`],
    identityPrices: {
      nin: { basic: 150, advanced: 250, retrieve: 400 },
      bvn: { basic: 100, advanced: 200, retrieve: 300 },
    },
    egress: { kind: "none" },
    ...changes,
  },
});

/** What a release needs to have a network, in which functions may reach private addresses. */
export const ownNetwork = {
  account: ACCOUNT,
  region: REGION,
  alarmEmail: "operations@example.com",
  // The emulator's first VPC. Functions run without a network of their own in it.
  egress: {
    kind: "existing",
    vpcId: "vpc-00000001",
    subnetIds: ["subnet-00000001", "subnet-00000002"],
    addresses: ["203.0.113.1"],
  },
} satisfies StageChange;

/** One of the two versions of the project, which operates the same stage. */
export type Version = {
  /** Deploys the stage with these changes of its settings. */
  readonly deploy: (changes: StageChange) => Promise<{ readonly outputs: Readonly<Record<string, string>> }>;
  /** `npm run diff`, with these changes of its settings. */
  readonly diff: (changes: StageChange) => Promise<string>;
  /** Runs a command of the operator; resolves with its JSON. */
  readonly operate: (...args: readonly string[]) => Promise<unknown>;
};

export type Rehearsal = {
  /** The commit from which the stage is updated. */
  readonly from: string;
  readonly settings: StageChange;
  /** Updates the stage to this tree, while the traffic continues. */
  readonly update: (previous: Version, tree: Version) => Promise<void>;
};

/** An order's answer before the update, and the answer to the same request after it. */
export type Replay = { readonly order: PlacedOrder; readonly before: Received; readonly after: Received };

/** Long enough for some orders of each kind to end. */
const TRAFFIC_BEFORE_MS = 8_000;
const TRAFFIC_AFTER_MS = 3_000;

/** Deploys the earlier commit, sends traffic to it, updates it to this tree under that traffic, and observes. */
const mark = (what: string): void => appendFileSync("/tmp/rehearsal-marks", `${new Date().toISOString()} ${what}\n`);
export const rehearse = async ({ from, settings, update }: Rehearsal) => {
  const upstream = await startTlsUpstream({
    liveKey: UPSTREAM_KEY,
    delayedOutcomeMs: 2_000,
    limits: { vtu: 100_000, identity: 100_000, catalog: 100_000 },
  });
  const receiver = await startReceiver();
  const emulator = await startEmulator(upstream.trust);
  const checkouts = await Promise.all([checkOut(from), checkOut()]);
  const close = async (): Promise<void> => {
    await emulator.stop();
    await Promise.all([upstream.stop(), receiver.stop()]);
    for (const checkout of checkouts) checkout.remove();
  };
  try {
    const [previous, tree] = [
      versionOf(emulator, checkouts[0], upstream.baseUrl),
      versionOf(emulator, checkouts[1], upstream.baseUrl),
    ];
    mark("boot");
    await bootstrap(emulator);
    const { baseUrl } = await previous.deploy(settings);
    mark("deployed");
    const account = await setUp(previous, receiver.url);
    mark("setup");
    upstream.state.webhook = { url: `${baseUrl}/webhooks/upstream/${account.token}`, secret: "not checked" };

    const document = readDocument(JSON.parse(readFileSync(`${projectRoot}docs/openapi.json`, "utf8")));
    const traffic = startTraffic(baseUrl, document, account.keys);
    await sleep(TRAFFIC_BEFORE_MS);
    mark("traffic");
    const earlier = traffic.placed.filter(({ received }) => received.length > 0).slice(0, 10);
    await allFinal(traffic, earlier);
    mark("earlier final");
    const before = await replayAll(traffic, earlier);
    mark("replayed");
    const physicalIds = { before: await physicalIdsOf(emulator), after: new Map<string, string>() };
    mark("diffing");
    const diff = await tree.diff(settings);

    mark("updating");
    await update(previous, tree);
    mark("updated");
    await sleep(TRAFFIC_AFTER_MS);
    mark("stopping");
    await traffic.stop();
    mark("stopped");
    const statuses = await allFinal(traffic, traffic.placed);
    mark("final");
    physicalIds.after = await physicalIdsOf(emulator);
    const after = await replayAll(traffic, earlier);
    const replays: Replay[] = earlier.map((order) => ({ order, before: of(before, order), after: of(after, order) }));
    return { traffic, document, statuses, replays, physicalIds, diff, tree, account, receiver, upstream, close };
  } catch (error) {
    await close();
    throw error;
  }
};

const of = (answers: ReadonlyMap<PlacedOrder, Received>, order: PlacedOrder): Received => {
  const received = answers.get(order);
  if (received === undefined) throw new Error(`${order.body.reference} was not sent again`);
  return received;
};

const versionOf = (emulator: Emulator, { folder, setStages }: Checkout, upstreamBaseUrl: string) => ({
  deploy: async (changes: StageChange) => {
    setStages(stagesWith(upstreamBaseUrl, changes));
    return deployStage(emulator, STAGE, folder);
  },
  diff: async (changes: StageChange) => {
    setStages(stagesWith(upstreamBaseUrl, changes));
    const { stdout, stderr } = await emulator.run(folder, "npm", "run", "--silent", "diff", "--", "--stage", STAGE);
    return stdout + stderr;
  },
  operate: async (...args: readonly string[]): Promise<unknown> => {
    const command = ["run", "--silent", "admin", "--", "--stage", STAGE, "--json", ...args];
    const { code, stdout, stderr } = await emulator.run(folder, "npm", ...command);
    if (code !== 0) throw new Error(`admin ${args.join(" ")} ended with ${code}: ${stdout}${stderr}`);
    return JSON.parse(stdout);
  },
  /** As `operate`, with a value on standard input. */
  setSecret: async (name: string, value: string): Promise<void> => {
    const command = `echo '${value}' | npm run --silent admin -- --stage ${STAGE} secrets set ${name}`;
    const { code, stderr } = await emulator.run(folder, "sh", "-c", command);
    if (code !== 0) throw new Error(`secrets set ${name} ended with ${code}: ${stderr}`);
  },
});

const answers = {
  account: z.object({ account_id: z.string() }),
  key: z.object({ key: z.string() }),
  token: z.object({ webhook_url: z.string() }),
  webhook: z.object({ webhook_secret: z.string() }),
};

const KEYS = 2;

/** Sets the stage up as docs/deployment.md says, with one app that has several keys, money and an endpoint. */
const setUp = async ({ operate, setSecret }: ReturnType<typeof versionOf>, endpoint: string) => {
  await setSecret("upstream-key", UPSTREAM_KEY);
  const { webhook_url } = answers.token.parse(await operate("secrets", "rotate", "webhook-token"));
  const { account_id } = answers.account.parse(await operate("accounts", "create", "app"));
  await operate("ips", "allow", account_id, LOOPBACK);
  await operate("wallet", "fund", account_id, String(FUNDS_NAIRA), "--id", "transfer-1");
  const { webhook_secret } = answers.webhook.parse(await operate("webhook", "set", account_id, endpoint));
  const keys: string[] = [];
  for (let count = 0; count < KEYS; count += 1) {
    keys.push(answers.key.parse(await operate("keys", "create", account_id, "--mode", "live")).key);
  }
  return { account_id, keys, webhookSecret: webhook_secret, token: webhook_url.split("/").at(-1) };
};

/** The physical ids of all resources of the stage by stack and logical id, with their type. */
const physicalIdsOf = async ({ environment, endpoint }: Emulator): Promise<Map<string, string>> => {
  const client = new CloudFormationClient({
    endpoint,
    region: REGION,
    credentials: { accessKeyId: environment.AWS_ACCESS_KEY_ID ?? "", secretAccessKey: "test" },
  });
  const ids = new Map<string, string>();
  for (const part of ["Data", "Service"] as const) {
    const StackName = stackName(STAGE, part);
    for await (const { StackResourceSummaries = [] } of paginateListStackResources({ client }, { StackName })) {
      for (const { LogicalResourceId, ResourceType, PhysicalResourceId } of StackResourceSummaries) {
        ids.set(`${ResourceType} ${LogicalResourceId}`, PhysicalResourceId ?? "");
      }
    }
  }
  client.destroy();
  return ids;
};

const transaction = z.object({ data: z.object({ transaction: z.object({ status: z.string() }) }) });
const FINAL_MS_MAX = 60_000;

/** The status of each order's transaction, once it is final; by the caller's reference. */
const allFinal = async (traffic: Traffic, orders: readonly PlacedOrder[]): Promise<Map<string, string>> => {
  const statuses = new Map<string, string>();
  const endMs = Date.now() + FINAL_MS_MAX;
  for (const { key, body } of orders) {
    for (;;) {
      const received = await traffic.ask("getTransaction", key, { parameters: { reference: body.reference } });
      const status =
        received.status === 200
          ? transaction.parse(JSON.parse(received.text)).data.transaction.status
          : `${received.status}`;
      statuses.set(body.reference, status);
      if (status === "success" || status === "failed" || Date.now() > endMs) break;
      await sleep(received.headers.has(headers.retryAfter) ? 5_000 : 300);
    }
  }
  return statuses;
};

const replayAll = async (traffic: Traffic, orders: readonly PlacedOrder[]): Promise<Map<PlacedOrder, Received>> => {
  const received = new Map<PlacedOrder, Received>();
  for (const order of orders) received.set(order, await traffic.ask(order.operation, order.key, { body: order.body }));
  return received;
};
