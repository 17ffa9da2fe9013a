import { randomBytes } from "node:crypto";
import { CloudFormationClient, ValidateTemplateCommand } from "@aws-sdk/client-cloudformation";
import { CreateTableCommand, DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { CreateSecretCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { afterAll, expect, test } from "vitest";
import { tables } from "../../infra/tables.ts";
import { tableDefinition } from "../../tools/local/tables.ts";
import { stageVariants } from "../builders/stage-variants.ts";
import { readTemplate, stackTemplates } from "../builders/templates.ts";
import { checkOutThisTree } from "./checkout.ts";
import { bootstrap, deployStage } from "./deployed-stage.ts";
import { ACCOUNT, REGION, startEmulator } from "./emulator.ts";

/** Goal: stages with other settings than the sandbox's are deployed to the emulator, as far as it can. */
const emulator = await startEmulator();
const tree = await checkOutThisTree();
afterAll(async () => {
  await emulator.stop();
  tree.remove();
});
Object.assign(process.env, emulator.environment);

const refusal = (...types: readonly string[]) =>
  `Template format error: Unrecognized resource types: [${types.map((type) => `AWS::${type}`).join(", ")}]`;
const CANARY = refusal("CodeDeploy::Application", "CodeDeploy::DeploymentConfig", "CodeDeploy::DeploymentGroup");
const ADDRESSES = refusal("EC2::EIP", "EC2::NatGateway");

/** Which stacks of a variant the emulator refuses, with its words; it accepts the others. */
const refusals: Readonly<Record<keyof typeof stageVariants, Readonly<Record<string, string>>>> = {
  sandbox: {},
  prod: { "Prod-Network": ADDRESSES, "Prod-Service": CANARY },
  "one zone": { "Prod-Network": ADDRESSES, "Prod-Service": CANARY },
  "three zones with names and addresses": { "Prod-Network": refusal("EC2::NatGateway"), "Prod-Service": CANARY },
  adopted: { "Prod-Network": ADDRESSES, "Prod-Service": CANARY },
  "copies in another region": {
    "Prod-Data": refusal("Backup::BackupSelection"),
    "Prod-Network": ADDRESSES,
    "Prod-Service": CANARY,
  },
  "every setting, in an existing VPC": { "Prod-Service": CANARY },
};

const typed = (Type: string) => [Type.replaceAll(":", ""), { Type }] as const;

test.each(Object.entries(stageVariants))(
  "the emulator refuses of this variant of a stage only what it has no resource types for: %s",
  async (variant, [stage, changes]) => {
    const cloudFormation = new CloudFormationClient({});
    const refused: Record<string, string> = {};
    for (const [stack, template] of stackTemplates(stage, changes)) {
      // A whole template is longer than what a request may have.
      const types = new Set(readTemplate(template).every.map(({ Type }) => Type));
      const TemplateBody = JSON.stringify({ Resources: Object.fromEntries([...types].map(typed)) });
      await cloudFormation.send(new ValidateTemplateCommand({ TemplateBody })).catch((error: Error) => {
        refused[stack] = error.message;
      });
    }
    expect(refused).toEqual(refusals[variant]);
  },
);

/** Tables and keys that an earlier stack left behind. */
const leftBehind = async () => {
  const [dynamoDb, secrets] = [new DynamoDBClient({}), new SecretsManagerClient({})];
  await dynamoDb.send(new CreateTableCommand(tableDefinition("old-access", tables.access)));
  const ledger = await dynamoDb.send(new CreateTableCommand(tableDefinition("old-ledger", tables.ledger)));
  const keys = ["old-reference-key", "old-webhook-key"].map(async (Name) => {
    const { ARN = "" } = await secrets.send(
      new CreateSecretCommand({ Name, SecretString: randomBytes(32).toString("hex") }),
    );
    return ARN;
  });
  const [referenceKeySecretArn = "", webhookKeySecretArn = ""] = await Promise.all(keys);
  return {
    accessTableName: "old-access",
    ledgerTableName: "old-ledger",
    ledgerStreamArn: ledger.TableDescription?.LatestStreamArn ?? "",
    referenceKeySecretArn,
    webhookKeySecretArn,
  };
};

test("a stage that sells is deployed into an existing VPC, with a domain and adopted tables, which it uses", {
  timeout: 300_000,
}, async () => {
  await bootstrap(emulator);
  tree.setSettings("prod", {
    account: ACCOUNT,
    region: REGION,
    alarmEmail: "operations@example.com",
    // The VPC and two of the subnets that the emulator begins with.
    egress: {
      kind: "existing",
      vpcId: "vpc-00000001",
      subnetIds: ["subnet-00000001", "subnet-00000002"],
      addresses: ["203.0.113.1"],
    },
    release: { kind: "all-at-once" },
    adopt: await leftBehind(),
    domain: {
      name: "api.example.com",
      certificateArn: `arn:aws:acm:${REGION}:${ACCOUNT}:certificate/0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f`,
    },
  });
  const { outputs } = await deployStage(emulator, "prod", tree.folder);
  expect(outputs).toMatchObject({
    ApiUrl: "https://api.example.com/v1",
    EgressIp1: "203.0.113.1",
    LedgerTable: "old-ledger",
  });
  const run = (...command: readonly string[]) => emulator.run(tree.folder, "npm", "run", "--silent", ...command);
  expect(await run("diff", "--", "--stage", "prod", "--fail")).toMatchObject({ code: 0 });
  expect(await run("admin", "--", "--stage", "prod", "accounts", "create", "app")).toMatchObject({ code: 0 });
  const { Count } = await new DynamoDBClient({}).send(new ScanCommand({ TableName: "old-ledger", Select: "COUNT" }));
  expect(Count).toBeGreaterThan(0);
});
