import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  GetFunctionConfigurationCommand,
  LambdaClient,
  UpdateFunctionConfigurationCommand,
  waitUntilFunctionUpdatedV2,
} from "@aws-sdk/client-lambda";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { parse } from "yaml";
import * as z from "#zod";
import { projectRoot } from "../../../infra/bundle/project-root.ts";
import { functionNamesOf } from "../../../infra/functions.ts";
import { settingsOf } from "../../../infra/stage-settings.ts";
import { deliveryPk } from "../../../shared/ledger/schema.ts";
import { pkOfReference } from "../../../shared/ledger/transaction.ts";
import { openSecretsManager } from "../../../shared/platform/aws/sdk.ts";
import { parseIpRanges } from "../../../shared/platform/ip-range.ts";
import { secret } from "../../../shared/platform/secrets.ts";
import { systemClock } from "../../../shared/platform/time.ts";
import { systemResolve } from "../../../shared/webhooks/address-guard.ts";
import { type Delivery, readDelivery } from "../../../shared/webhooks/delivery.ts";
import { disableEndpoint, setEndpoint } from "../../../shared/webhooks/endpoint.ts";
import { stages } from "../../../stages.ts";
import { WAIT_MS_MAX } from "../../builders/run/until.ts";
import { ENDPOINT, firstEndpoint } from "../../builders/webhooks/endpoint.ts";
import { standardHeaders, startReceiver } from "../../builders/webhooks/receiver.ts";
import { readStack, templateOf } from "../deployed-stack.ts";
import { emulator, newCaller, stage, storeOf, synthesised } from "./company.ts";

/** Goal: the sandbox that the package has deployed is the one of this tree, and its parts work together. */

/** Runs a command of this project against the emulator. */
const run = (command: string, ...args: readonly string[]) => emulator.run(projectRoot, command, ...args);

const store = storeOf(stage);
const ledger = { db: store.db, table: store.ledgerTable, clock: systemClock };

/** The parts of a synthesised template that define resources and code. */
const synthesisedTemplate = z.object({
  Resources: z.record(
    z.string(),
    z.object({ Type: z.string(), Properties: z.object({ Code: z.optional(z.object({ S3Key: z.string() })) }) }),
  ),
});

test("npx cdk synth of this tree, without a stage, synthesises the template and code of the sandbox that the package deployed, and npx cdk deploy --all deploys what is missing", async () => {
  const synth = ["npx", "cdk", "synth", "--quiet", "--output", synthesised];
  expect(await run("env", "CDK_VALIDATION=true", ...synth)).toMatchObject({ code: 0 });
  const templates = readdirSync(synthesised).filter((name) => name.endsWith(".template.json"));
  expect(templates).toEqual(["Administrator", "Data", "Service"].map((part) => `Sandbox-${part}.template.json`));

  for (const stack of ["Sandbox-Data", "Sandbox-Service"]) {
    expect(await templateOf(stack)).toBe(readFileSync(join(synthesised, `${stack}.template.json`), "utf8"));
  }
  // The administrator's stack is missing, and the others have no changes.
  const deploy = ["cdk", "deploy", "--all", "--require-approval", "never", "--app", synthesised];
  expect(await run("npx", ...deploy)).toMatchObject({ code: 0 });

  const bundles: string[] = [];
  for (const file of templates) {
    const text = readFileSync(join(synthesised, file), "utf8");
    const deployed = await readStack(file.replace(".template.json", ""));
    // The CDK sends that of the administrator in the request, as YAML.
    expect(parse(deployed.template)).toEqual(JSON.parse(text));

    // The emulator omits CDK's metadata resource.
    const resources = Object.entries(synthesisedTemplate.parse(JSON.parse(text)).Resources).filter(
      ([, { Type }]) => Type !== "AWS::CDK::Metadata",
    );
    expect(deployed.resources).toEqual(new Map(resources.map(([id, { Type }]) => [id, `${Type} CREATE_COMPLETE`])));
    for (const [id, { Properties }] of resources) {
      if (Properties.Code === undefined) continue;
      const asset = `asset.${Properties.Code.S3Key.replace(".zip", "")}`;
      expect(deployed.bundles.get(id)).toBe(readFileSync(join(synthesised, asset, "index.mjs"), "utf8"));
      bundles.push(asset);
    }
  }
  expect(bundles).toHaveLength(functionNamesOf(settingsOf("sandbox", stages)).length);
});

test("npm run synth accepts the synthesised stacks, and npm run diff shows no change after the deployment", async () => {
  expect(await run("npm", "run", "synth", "--", "--app", synthesised)).toMatchObject({ code: 0 });
  const options = ["--stage", "sandbox", "--fail", "--app", synthesised];
  const { code, stdout, stderr } = await run("npm", "run", "diff", "--", ...options);
  expect([code, stdout + stderr]).toEqual([0, expect.stringContaining("Number of stacks with differences: 0")]);
});

const admin = (...args: readonly string[]) =>
  run("npm", "run", "--silent", "admin", "--", "--stage", "sandbox", "--json", ...args);

test("admin doctor exits with 0 in a new sandbox, which has no upstream key and no alarm address", async () => {
  // As in docs/deployment.md. AWS generates a token without punctuation; the emulator's is not valid in a path.
  expect(await admin("secrets", "rotate", "webhook-token", "--why", "test")).toMatchObject({ code: 0 });
  const { code, stdout } = await admin("doctor");
  expect(code, stdout).toBe(0);
  const { checks } = z
    .object({ checks: z.array(z.object({ check: z.string(), state: z.string() })) })
    .parse(JSON.parse(stdout));
  expect(Object.fromEntries(checks.map(({ check, state }) => [check, state]))).toEqual({
    service: "ok",
    selling: "ok",
    "reference key": "ok",
    "upstream key": "skipped",
    address: "skipped",
    orders: "skipped",
    catalog: "ok",
    "upstream's webhook": "ok",
    limits: "ok",
    consumers: "ok",
    alarms: "skipped",
    "alarm actions": "ok",
    "access logs": "skipped",
    "callers' ranges": "skipped",
    tables: "skipped",
    "audit policy": "ok",
    "audit copy": "skipped",
    "dead letters": "ok",
    float: "ok",
    "success rates": "skipped",
    endpoints: "ok",
    wallets: "ok",
    "stuck transactions": "ok",
    "queued orders": "ok",
    events: "ok",
  });
});

const LOOPBACK = "127.0.0.1/32";
const rules = { allowed: parseIpRanges(LOOPBACK), refusedHosts: [], resolve: systemResolve };
const endpoints = {
  accounts: store,
  webhookSealingKey: secret(openSecretsManager(), stage.outputs.WebhookKeySecretId ?? ""),
  clock: systemClock,
};

/** Settles by an event 5 s later. Source: docs/interface.md 3.4. */
const LATER_PHONE_NUMBER = "08000000002";

/** Buys 100 NGN of airtime that is `processing` at first; resolves with its reference. */
const buyLater = async (key: string): Promise<string> => {
  const response = await fetch(`${stage.baseUrl}/vtu/airtime/purchase`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ network: "mtn", phone_number: LATER_PHONE_NUMBER, amount: 100 }),
  });
  expect(await response.json()).toMatchObject({ data: { transaction: { status: "processing" } } });
  return response.headers.get("x-transaction-reference") ?? "";
};

/** The webhook delivery of a successful purchase, once it has this state. */
const deliveryOf = async (reference: string, state: Delivery["state"]): Promise<Delivery | undefined> => {
  const pk = deliveryPk({
    ...{ endpoint: ENDPOINT, transaction_pk: pkOfReference(reference) ?? "" },
    status: "success",
  });
  const read = () => readDelivery(ledger, pk);
  await expect.poll(async () => (await read())?.state, { timeout: WAIT_MS_MAX, interval: 500 }).toBe(state);
  return read();
};

test("a purchase is settled by an event, and the change goes through the stream to a webhook delivery", async () => {
  const { account_id, key } = await newCaller(stage);
  await setEndpoint(endpoints, rules, account_id, "http://127.0.0.1:9/");
  await disableEndpoint(endpoints, firstEndpoint(account_id));
  const reference = await buyLater(key);
  // The account's endpoint is disabled, which is the result of the delivery.
  await deliveryOf(reference, "switched_off");
  const response = await fetch(`${stage.baseUrl}/transactions/${reference}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(await response.json()).toMatchObject({ data: { transaction: { reference, status: "success" } } });
});

/**
 * A stage sends webhooks only to public addresses over HTTPS, where this machine has no receiver. Therefore the
 * function that delivers them is allowed to reach loopback, after everything else was tested as deployed. No stage may
 * have this setting: on Lambda, the runtime's API listens on loopback.
 */
const letWebhooksReachLoopback = async (): Promise<void> => {
  const client = new LambdaClient({});
  const FunctionName = "sandbox-airtime-deliver-webhook";
  const { Environment } = await client.send(new GetFunctionConfigurationCommand({ FunctionName }));
  expect(Environment?.Variables).toMatchObject({ WEBHOOK_ALLOWED_CIDRS: "" });
  const Variables = { ...Environment?.Variables, WEBHOOK_ALLOWED_CIDRS: LOOPBACK };
  await client.send(new UpdateFunctionConfigurationCommand({ FunctionName, Environment: { Variables } }));
  await waitUntilFunctionUpdatedV2({ client, maxWaitTime: WAIT_MS_MAX / 1_000 }, { FunctionName });
};

test("a settled purchase is delivered to the account's endpoint once, signed and with the fields of the interface", async () => {
  await letWebhooksReachLoopback();
  const requests: unknown[] = [];
  const receiver = await startReceiver((response) => {
    requests.push([response.req.method, response.req.url, response.req.headers["content-type"]]);
    response.end();
  });
  try {
    const { account_id, key } = await newCaller(stage);
    const { webhookSecret } = await setEndpoint(endpoints, rules, account_id, receiver.url);

    const reference = await buyLater(key);
    const delivery = await deliveryOf(reference, "delivered");
    expect(delivery).toMatchObject({ account_id, attempts: [{ number: 1, outcome: "delivered", http_status: 200 }] });
    expect(requests).toEqual([["POST", "/hook", "application/json"]]);
    const [event] = receiver.received;
    expect(event?.headers.id).toMatch(/^evt_[0-9a-f]{32}$/);
    expect(event?.headers.id).toBe(delivery?.webhook_id);
    expect(event && new Webhook(webhookSecret).verify(event.body, standardHeaders(event))).toEqual({
      event: "transaction.updated",
      data: {
        reference,
        status: "success",
        amount: 100,
        type: "airtime",
        network: "MTN",
        phone_number: LATER_PHONE_NUMBER,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
    });
  } finally {
    await receiver.stop();
  }
});
