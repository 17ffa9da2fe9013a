import { randomBytes } from "node:crypto";
import {
  CloudFormationClient,
  CreateStackCommand,
  UpdateStackCommand,
  waitUntilStackCreateComplete,
  waitUntilStackUpdateComplete,
} from "@aws-sdk/client-cloudformation";
import { CreateTableCommand, DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { CreateKeyCommand, KMSClient } from "@aws-sdk/client-kms";
import { LambdaClient, ListEventSourceMappingsCommand } from "@aws-sdk/client-lambda";
import { CreateSecretCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import type { JWTPayload } from "jose";
import { afterAll, describe, expect, test } from "vitest";
import * as z from "#zod";
import { tables } from "../../infra/tables.ts";
import { tableDefinition } from "../../tools/local/tables.ts";
import { startTokenIssuer } from "../builders/browser/token-issuer.ts";
import { WAIT_MS_MAX } from "../builders/run/until.ts";
import { aConsole } from "../builders/templates/console.ts";
import { checkOutThisTree } from "./checkout.ts";
import { templateOf } from "./deployed-stack.ts";
import { createToolkit, deployStage } from "./deployed-stage.ts";
import { ACCOUNT, REGION, startEmulator } from "./emulator.ts";

/** Goal: stages with other settings than the sandbox's are deployed to the emulator, as far as it can. */
const { clientId, operatorGroup, readerGroup } = aConsole;
const provider = await startTokenIssuer(clientId);
const emulator = await startEmulator(provider.certificate);
const tree = checkOutThisTree();
afterAll(async () => {
  await emulator.stop();
  provider.stop();
  tree.remove();
});
Object.assign(process.env, emulator.environment);

/** Tables and keys that an earlier stack left behind. */
const leftBehind = async () => {
  const [dynamoDb, secrets] = [new DynamoDBClient({}), new SecretsManagerClient({})];
  await dynamoDb.send(new CreateTableCommand(tableDefinition("old-access", tables.access)));
  const ledger = await dynamoDb.send(new CreateTableCommand(tableDefinition("old-ledger", tables.ledger)));
  const audit = await dynamoDb.send(new CreateTableCommand(tableDefinition("old-audit", tables.audit)));
  const keys = ["old-reference-key", "old-checksum-key", "old-webhook-key"].map(async (Name) => {
    const { ARN = "" } = await secrets.send(
      new CreateSecretCommand({ Name, SecretString: randomBytes(32).toString("hex") }),
    );
    return ARN;
  });
  const [referenceKeySecretArn = "", checksumKeySecretArn = "", webhookKeySecretArn = ""] = await Promise.all(keys);
  const adopt = {
    accessTableName: "old-access",
    ledgerTableName: "old-ledger",
    ledgerStreamArn: ledger.TableDescription?.LatestStreamArn ?? "",
    auditTableName: "old-audit",
    auditStreamArn: audit.TableDescription?.LatestStreamArn ?? "",
    referenceKeySecretArn,
    checksumKeySecretArn,
    webhookKeySecretArn,
  };
  const { KeyMetadata } = await new KMSClient({}).send(
    new CreateKeyCommand({ KeySpec: "HMAC_256", KeyUsage: "GENERATE_VERIFY_MAC", MultiRegion: true }),
  );
  return { adopt, identityKeyArn: KeyMetadata?.Arn ?? "" };
};

/** The VPC, two of its subnets and their route table that the emulator begins with. */
const [vpcId, subnetIds, routeTableId] = ["vpc-00000001", ["subnet-00000001", "subnet-00000002"], "rtb-00000001"];

/** Gives the VPC the gateway endpoint that docs/deployment.md requires. */
const addDynamoDbEndpoint = async (): Promise<void> => {
  const client = new CloudFormationClient({});
  const StackName = "Network-Of-Others";
  const ServiceName = `com.amazonaws.${REGION}.dynamodb`;
  const Properties = { VpcId: vpcId, ServiceName, RouteTableIds: [routeTableId] };
  const TemplateBody = JSON.stringify({ Resources: { Endpoint: { Type: "AWS::EC2::VPCEndpoint", Properties } } });
  await client.send(new CreateStackCommand({ StackName, TemplateBody }));
  await waitUntilStackCreateComplete({ client, maxWaitTime: WAIT_MS_MAX / 1_000 }, { StackName });
};

/** Where the emulator serves the stage's routes; set by its deployment. */
let origin = "";

/** Settings of prod that the emulator can deploy. */
const prodSettings = async () => ({
  account: ACCOUNT,
  region: REGION,
  upstreamProfile: { reference: "all" },
  alarmEmail: "operations@example.com",
  egress: { kind: "existing", vpcId, subnetIds, addresses: ["203.0.113.1"] },
  release: { kind: "all-at-once" },
  ...(await leftBehind()),
  domain: {
    name: "api.example.com",
    certificateArn: `arn:aws:acm:${REGION}:${ACCOUNT}:certificate/0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f`,
  },
});
const withConsole = { console: { ...aConsole, issuer: provider.issuer } };
let settings: Awaited<ReturnType<typeof prodSettings>>;

/** Deploys prod; resolves with its outputs. */
const deployProd = async (changes: object) => {
  tree.setSettings("prod", { ...settings, ...changes });
  const { outputs } = await deployStage(emulator, "prod", tree.folder);
  const [api = ""] = (outputs.WebhookRefusedHosts ?? "").split(".");
  origin = `${emulator.endpoint}/_aws/execute-api/${api}/$default`;
  return outputs;
};

test("a stage that sells is deployed into an existing VPC, with a domain, a console and adopted tables, which it uses", async () => {
  await createToolkit();
  await addDynamoDbEndpoint();
  settings = await prodSettings();
  expect(await deployProd(withConsole)).toMatchObject({
    ApiUrl: "https://api.example.com/v1",
    EgressIp1: "203.0.113.1",
    LedgerTable: "old-ledger",
    ConsoleUrl: "https://api.example.com/console",
  });
  // The stage's own domain has no address on this machine.
  const create = ["--silent", "admin", "--", "--stage", "prod", "accounts", "create", "app", "--direct"];
  expect(await emulator.run(tree.folder, "npm", "run", ...create)).toMatchObject({ code: 0 });
  const { Count } = await new DynamoDBClient({}).send(new ScanCommand({ TableName: "old-ledger", Select: "COUNT" }));
  expect(Count).toBeGreaterThan(0);
});

describe("the console of the deployed stage", () => {
  type Headers = Readonly<Record<string, string>>;
  const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });
  const signedIn = async (claims: JWTPayload): Promise<Headers> => bearer(await provider.tokenWith(claims));
  const asOperator = () => signedIn({ sub: "ada", groups: [operatorGroup] });
  const asReader = () => signedIn({ sub: "chi", groups: [readerGroup] });
  const asOwner = () => signedIn({ sub: "bola", email: "bola@example.com", email_verified: true });

  const read = (path: string, headers: Headers = {}) => fetch(`${origin}/console-api/${path}`, { headers });
  const file = (path: string) => fetch(`${origin}/console/${path}`);
  const change = (path: string, headers: Headers, body: object) =>
    fetch(`${origin}/console-api/${path}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const dataOf = async (response: Response) =>
    z.object({ data: z.looseObject({ account_id: z.optional(z.string()) }) }).parse(await response.json()).data;
  /** A new account of this owner. */
  const accountOf = async (email: string): Promise<string> => {
    const operator = await asOperator();
    const created = await change("accounts/create", operator, { name: "app", why: "test" });
    const { account_id: account = "" } = await dataOf(created);
    const owners = [{ kind: "email", value: email }];
    expect((await change("accounts/owners", operator, { account, owners, why: "test" })).status).toBe(200);
    return account;
  };

  test("operator, reader, owner and a person without a role may do what their token says, and nothing else", async () => {
    const [own, other] = [await accountOf("bola@example.com"), await accountOf("eve@example.com")];
    const people = {
      operator: await asOperator(),
      reader: await asReader(),
      owner: await asOwner(),
      nobody: await signedIn({ sub: "dayo", groups: ["other"] }),
      // API Gateway passes the groups as "[x airtime-operators y]".
      namesake: await signedIn({ sub: "eze", groups: [`x ${operatorGroup} y`] }),
    };
    const found: Record<string, readonly number[]> = {};
    for (const [person, headers] of Object.entries(people)) {
      const answers = [
        await read("me", headers),
        await read("accounts/list", headers),
        await read(`accounts/show?account=${own}`, headers),
        await read(`accounts/show?account=${other}`, headers),
        await change("accounts/create", headers, { name: "another", why: "test" }),
      ];
      found[person] = answers.map(({ status }) => status);
    }
    expect(found).toEqual({
      operator: [200, 200, 200, 200, 200],
      reader: [200, 200, 200, 200, 403],
      owner: [200, 403, 200, 404, 403],
      nobody: [200, 403, 403, 403, 403],
      namesake: [200, 403, 403, 403, 403],
    });
    expect(await dataOf(await read("me", people.owner))).toMatchObject({
      by: "bola@example.com",
      roles: [],
      owns: [{ account_id: own, name: "app" }],
      stage: { name: "prod" },
    });
  });

  test("the pages are served without a token, with their policy, and their files may be kept for ever", async () => {
    for (const path of ["", "accounts/acc_1/keys"]) {
      const page = await fetch(`${origin}/console${path && `/${path}`}`);
      expect(page.status).toBe(200);
      expect(page.headers.get("content-security-policy")).toContain(`connect-src 'self' ${provider.issuer};`);
      const [, script = ""] = /src="\/console\/([^"]+)"/.exec(await page.text()) ?? [];
      const asset = await file(script);
      expect(asset.status).toBe(200);
      expect(asset.headers.get("cache-control")).toContain("immutable");
      const [libraries = ""] = /assets\/libraries-[^"]+/.exec(await asset.text()) ?? [];
      expect(await (await file(libraries)).text()).toContain("Minified React error");
    }
    expect(await (await file("config.json")).json()).toEqual({
      issuer: provider.issuer,
      clientId,
      scope: "openid email profile",
      tokenMinutesMax: 15,
    });
    expect((await file("assets/none.js")).status).toBe(404);
  });
});

/** Updates a stack to a template that was deployed before, as `npm run deploy` does with the settings of then. */
const deployAgain = async (StackName: string, template: string): Promise<void> => {
  const TemplateURL = `${emulator.endpoint}/cdk-airtime-assets-${ACCOUNT}-${REGION}/earlier.json`;
  expect((await fetch(TemplateURL, { method: "PUT", body: template })).status).toBe(200);
  const client = new CloudFormationClient({});
  await client.send(new UpdateStackCommand({ StackName, TemplateURL, Capabilities: ["CAPABILITY_NAMED_IAM"] }));
  await waitUntilStackUpdateComplete(
    { client, maxWaitTime: WAIT_MS_MAX / 1_000, minDelay: 1, maxDelay: 1 },
    { StackName },
  );
};

test("a console that is switched off is gone, and one that is switched on again counts only what ends from then on", async () => {
  const lambda = new LambdaClient({});
  /** Where the function that counts for the console begins to read the ledger's changes, each time that it is deployed. */
  const counting = async () => {
    const { EventSourceMappings = [] } = await lambda.send(new ListEventSourceMappingsCommand({}));
    return EventSourceMappings.filter(({ FunctionArn = "" }) => FunctionArn.endsWith("count-transactions"));
  };
  const page = async (): Promise<number> => (await fetch(`${origin}/console`)).status;
  expect([await page(), (await counting()).length]).toEqual([200, 1]);
  const template = await templateOf("Prod-Service");
  await deployProd({});
  expect([await page(), await counting()]).toEqual([404, []]);
  await deployAgain("Prod-Service", template);
  expect(await page()).toBe(200);
  expect(await counting()).toMatchObject([{ StartingPosition: "LATEST" }]);
});
