import { execFile } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  CloudFormationClient,
  CreateStackCommand,
  DescribeStacksCommand,
  waitUntilStackCreateComplete,
} from "@aws-sdk/client-cloudformation";
import { GetFunctionConfigurationCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { afterAll, expect, test } from "vitest";
import * as z from "#zod";
import { AirtimeClient } from "../../client/src/index.ts";
import { projectRoot } from "../../infra/bundle/project-root.ts";
import { createAccount, createKey } from "../../shared/access/accounts.ts";
import { ALL_ENTITLEMENTS } from "../../shared/contract/permission.ts";
import { openDynamoDb, openSecretsManager } from "../../shared/platform/aws/sdk.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { sleep } from "../../shared/platform/time.ts";
import { packPackage } from "../../tools/package/build.ts";
import { bootstrap, callableUrl, type DeployedStage, deployStage } from "./deployed-stage.ts";
import { ACCOUNT, REGION, startEmulator } from "./emulator.ts";

/** Goal: what a company does with the package in a folder of its own, and that it loses no order by an update. */
const emulator = await startEmulator();
const scratch = mkdtempSync(join(tmpdir(), "package-"));
/** The company's repository. */
const folder = join(scratch, "stages");
afterAll(async () => {
  await emulator.stop();
  await rm(scratch, { recursive: true });
});
Object.assign(process.env, emulator.environment);
const lambda = new LambdaClient({});

const succeeds = async (cwd: string, ...command: readonly [string, ...string[]]): Promise<string> => {
  const { code, stdout, stderr } = await emulator.run(cwd, ...command);
  expect(code, stdout + stderr).toBe(0);
  return stdout;
};

/** With this machine's registry. Node and dynoxide, the optional packages, are those of this tree. */
const install = async (file: string): Promise<void> => {
  const options = ["--ignore-scripts", "--omit=optional", "--prefer-offline", "--no-audit", "--loglevel=error"];
  const { AWS_ENDPOINT_URL: _, ...env } = process.env;
  await promisify(execFile)("npm", ["install", file, ...options], { cwd: folder, env });
};

/** The package as it is, and the next version of it: the same tree, with other code in each function. */
const pack = async (): Promise<{ readonly current: string; readonly next: string }> => {
  const [current = ""] = /^\S+\.tgz/.exec(await succeeds(projectRoot, "npm", "run", "--silent", "package")) ?? [];
  const copy = join(scratch, "next");
  cpSync(join(projectRoot, ".local", "package", "package"), copy, { recursive: true });
  for (const name of readdirSync(join(copy, "built")).filter((each) => each.endsWith(".js"))) {
    appendFileSync(join(copy, "built", name), "\n// 99.0.0\n");
  }
  const manifest = join(copy, "package.json");
  writeFileSync(manifest, readFileSync(manifest, "utf8").replace(/"version": "[^"]+"/, '"version": "99.0.0"'));
  return { current, next: await packPackage(copy, scratch) };
};

const packed = await pack();

/** An app of the company with a test key, whose orders go through everything but the upstream. */
const newCaller = async ({ baseUrl, outputs }: DeployedStage): Promise<AirtimeClient> => {
  const { AccessTable: accessTable = "", LedgerTable: ledgerTable = "", ChecksumKeySecretId = "" } = outputs;
  const checksumKey = secret(openSecretsManager(), ChecksumKeySecretId);
  const store = { db: openDynamoDb(), accessTable, ledgerTable, checksumKey };
  const { account_id: accountId } = await createAccount(store, {
    name: "shop",
    whitelist: ["127.0.0.1"],
    entitlements: ALL_ENTITLEMENTS,
  });
  const { key } = await createKey(store, accountId, { mode: "test" });
  return new AirtimeClient({ baseUrl, apiKey: key });
};

const buy = (shop: AirtimeClient, reference: string) =>
  shop.airtime.purchase({ network: "mtn", phoneNumber: "08031234567", amount: 100 }, { reference });

/**
 * The emulator may end a function's process in the middle of an order. As after any crash, the order is then open until
 * the upstream reports it, which nobody does for a test key; it is not lost, and not placed again.
 */
const DELIVERED_OR_OPEN = expect.stringMatching(/^(success|processing)$/);

/** Buys once, and then until `work` has ended; resolves with the service's reference of each order, by the caller's. */
const sellDuring = async (shop: AirtimeClient, name: string, work: () => Promise<unknown>) => {
  const orders = new Map<string, string>();
  const end = new AbortController();
  const sell = async (): Promise<void> => {
    do {
      const callerReference = `${name}-${orders.size}`;
      const order = await buy(shop, callerReference);
      expect(order).toMatchObject({ status: DELIVERED_OR_OPEN, callerReference });
      orders.set(callerReference, order.reference);
      await sleep(1_000);
    } while (!end.signal.aborted);
  };
  await Promise.all([sell(), work().finally(() => end.abort())]);
  return orders;
};

const codeOf = async (): Promise<string | undefined> => {
  const FunctionName = "sandbox-airtime-purchase";
  return (await lambda.send(new GetFunctionConfigurationCommand({ FunctionName }))).CodeSha256;
};

const installed = join(folder, "node_modules/airtime-data-identity-service");
const installedVersion = (): string =>
  z.object({ version: z.string() }).parse(JSON.parse(readFileSync(join(installed, "package.json"), "utf8"))).version;

/** What `npm install` does with a package of the same dependencies and files. */
const replacePackage = async (file: string): Promise<void> => {
  await promisify(execFile)("tar", ["-xzf", file, "-C", installed, "--strip-components=1"]);
  chmodSync(join(folder, "node_modules/.bin/airtime"), 0o755);
};

test("a package that is installed in an empty folder makes a repository, deploys it, and is replaced by another version and back under traffic without losing an order", {
  timeout: 900_000,
}, async () => {
  mkdirSync(folder);
  await install(packed.current);
  await succeeds(folder, "npx", "airtime", "init", "--yes");
  await bootstrap(emulator, folder);
  const deploy = () => deployStage(emulator, "sandbox", folder);
  const stage = await deploy();
  const first = await codeOf();

  const shop = await newCaller(stage);
  const before = await sellDuring(shop, "before", () => Promise.resolve());
  const replace = (name: string, version: string) =>
    sellDuring(shop, name, async () => {
      await replacePackage(version);
      await deploy();
    });
  const during = await replace("update", packed.next);
  expect(installedVersion()).toBe("99.0.0");
  expect(await codeOf()).not.toBe(first);
  const back = await replace("rollback", packed.current);
  expect(installedVersion()).not.toBe("99.0.0");
  expect(await codeOf()).toBe(first);

  const orders = new Map([...before, ...during, ...back]);
  expect(orders.size).toBeGreaterThan(5);
  for (const [callerReference, reference] of orders) {
    expect(await shop.transactions.get(callerReference)).toMatchObject({ status: DELIVERED_OR_OPEN, reference });
  }
  // A replay after both is still the same order.
  const [oldest] = before;
  expect((await buy(shop, oldest?.[0] ?? "")).reference).toBe(oldest?.[1]);
});

/** A company's own app. */
const APP = `import { App, Stack } from "aws-cdk-lib";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import { Vpc } from "aws-cdk-lib/aws-ec2";
import { Key, KeySpec, KeyUsage } from "aws-cdk-lib/aws-kms";
import { AirtimeService, type AirtimeServiceProps } from "airtime-data-identity-service/cdk";

const app = new App();
const env = { account: "111122223333", region: "us-east-1" };
const shop = new Stack(app, "Shop", { env });
const vpc = new Vpc(shop, "Vpc", { availabilityZones: ["us-east-1a", "us-east-1b"] });
const certificateArn = "arn:aws:acm:us-east-1:111122223333:certificate/0a1b2c3d";
const settings: Omit<AirtimeServiceProps, "egress"> = {
  ...env,
  stage: "prod",
  upstreamBaseUrl: "https://upstream.example.com/v1",
  upstreamWebhookIps: [],
  upstreamProfile: { reference: "documented" },
  identityPrices: {
    nin: { basic: 150, advanced: 250, retrieve: 400 },
    bvn: { basic: 100, advanced: 200, retrieve: 300 },
  },
  alarmEmail: "operations@example.com",
  domain: { name: "airtime.example.com", certificate: Certificate.fromCertificateArn(shop, "Certificate", certificateArn) },
  identityKey: new Key(shop, "Key", { keySpec: KeySpec.HMAC_256, keyUsage: KeyUsage.GENERATE_VERIFY_MAC, multiRegion: true }),
  tags: { team: "payments" },
};
new AirtimeService(shop, "Airtime", { ...settings, egress: { kind: "vpc", vpc, addresses: ["203.0.113.1"] } });
app.synth({ validateOnSynthesis: true });
`;

const stackTemplate = z.object({
  Resources: z.record(
    z.string(),
    z.object({ Type: z.string(), Properties: z._default(z.record(z.string(), z.unknown()), {}) }),
  ),
});
const assembly = z.object({
  artifacts: z.record(
    z.string(),
    z.looseObject({
      properties: z._default(
        z.looseObject({ templateFile: z.optional(z.string()), stackName: z.optional(z.string()) }),
        {},
      ),
    }),
  ),
});

test("the construct is typed, and is synthesised in a company's own app with its VPC, domain, key and tags", async () => {
  writeFileSync(join(folder, "app.ts"), APP);
  const options = [
    "--noEmit",
    "--checkers",
    "1",
    "--strict",
    "--module",
    "nodenext",
    "--target",
    "es2024",
    "--types",
    "",
    "--skipLibCheck",
  ];
  await succeeds(folder, "tsc", "--ignoreConfig", ...options, "app.ts", "stages.ts");
  const output = join(scratch, "app.out");
  await succeeds(folder, "env", `CDK_OUTDIR=${output}`, "node", "app.ts");
  const { artifacts } = assembly.parse(JSON.parse(readFileSync(join(output, "manifest.json"), "utf8")));
  const resourcesOf = (stack: string) => {
    // A stack whose id in the app is its name has no other name there.
    const found = Object.entries(artifacts).find(([id, { properties }]) => (properties.stackName ?? id) === stack);
    const file = join(output, found?.[1].properties.templateFile ?? "");
    return Object.values(stackTemplate.parse(JSON.parse(readFileSync(file, "utf8"))).Resources);
  };
  const service = resourcesOf("Prod-Service");
  const one = (type: string, name: string) =>
    service.find(({ Type, Properties }) => Type === type && JSON.stringify(Properties).includes(name))?.Properties;
  const purchase = one("AWS::Lambda::Function", "prod-airtime-purchase");
  expect(JSON.stringify(purchase?.VpcConfig)).toContain("Shop:ExportsOutputRefVpcPrivateSubnet1");
  expect(JSON.stringify(one("AWS::Lambda::Function", "prod-airtime-check-identity"))).toContain(
    "Shop:ExportsOutputFnGetAttKey",
  );
  expect(one("AWS::ApiGatewayV2::DomainName", "airtime.example.com")).toBeDefined();
  expect(JSON.stringify(purchase?.Tags)).toContain(JSON.stringify({ Key: "team", Value: "payments" }));
  expect(resourcesOf("Prod-Data").some(({ Type }) => Type === "AWS::KMS::Key")).toBe(false);
  // What is the app's own has none of the service's tags and rules.
  expect(JSON.stringify(resourcesOf("Shop"))).not.toContain("airtime");
});

/** Uploads the files of a folder to a bucket of the emulator, as `aws s3 sync` does. */
const upload = async (from: string, bucket: string): Promise<void> => {
  const put = async (path: string, body?: Uint8Array<ArrayBuffer>): Promise<void> => {
    const { status } = await fetch(`${emulator.endpoint}/${path}`, { method: "PUT", ...(body && { body }) });
    expect(status).toBe(200);
  };
  await put(bucket);
  for (const { name } of readdirSync(from, { withFileTypes: true }).filter((entry) => entry.isFile())) {
    await put(`${bucket}/${name}`, new Uint8Array(readFileSync(join(from, name))));
  }
};

test("the templates and archives of a stage are deployed without the CDK, in any account and region, and sell", async () => {
  appendFileSync(join(folder, "stages.ts"), "\nObject.assign(stages, { plain: stages.sandbox });\n");
  const artefact = join(scratch, "artefact");
  const options = ["--stage", "plain", "--output", artefact];
  const printed = await succeeds(folder, "npm", "run", "--silent", "templates", "--", ...options);
  expect(printed).toContain("Plain-Data, Plain-Service, Plain-Administrator, to be deployed in this order.");
  for (const name of readdirSync(artefact).filter((each) => each.endsWith(".json"))) {
    // No account, no region, no bootstrap and no path of this machine.
    const text = readFileSync(join(artefact, name), "utf8");
    for (const place of [ACCOUNT, REGION, "cdk-airtime", scratch, projectRoot]) {
      expect(text).not.toContain(place);
    }
  }

  // From here on only with the files.
  await upload(join(artefact, "assets"), "archives");
  await upload(artefact, "templates");
  const client = new CloudFormationClient({});
  const create = async (StackName: string, parameters: Readonly<Record<string, string>> = {}) => {
    await client.send(
      new CreateStackCommand({
        StackName,
        TemplateURL: `${emulator.endpoint}/templates/${StackName}.json`,
        Parameters: Object.entries(parameters).map(([ParameterKey, ParameterValue]) => ({
          ParameterKey,
          ParameterValue,
        })),
        Capabilities: ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"],
      }),
    );
    await waitUntilStackCreateComplete({ client, maxWaitTime: 120, minDelay: 1, maxDelay: 1 }, { StackName });
  };
  await create("Plain-Data");
  await create("Plain-Service", { AssetsBucket: "archives" });
  await create("Plain-Administrator");

  const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: "Plain-Service" }));
  const outputs = Object.fromEntries(Stacks[0]?.Outputs?.map((each) => [each.OutputKey, each.OutputValue ?? ""]) ?? []);
  const shop = await newCaller({ baseUrl: callableUrl(emulator, outputs), outputs });
  expect(await buy(shop, "plain")).toMatchObject({ status: "success", callerReference: "plain" });
});
