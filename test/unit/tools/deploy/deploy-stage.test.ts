import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { SettingsError } from "../../../../infra/settings-error.ts";
import { settingsOf } from "../../../../infra/stage-settings.ts";
import { stages } from "../../../../stages.ts";
import { deployAdministrator, deployStage, destroyStage } from "../../../../tools/deploy/deploy-stage.ts";
import { type QueryAnswer, type QueryRequest, startFakeAws } from "../../../builders/aws/fake-aws.ts";
import { stageVariants } from "../../../builders/templates/stage-variants.ts";

/** Goal: stacks change in an order that CloudFormation accepts, and what keeps state is protected before and after. */

/** The stacks that AWS has, by name: their protection, and values of outputs by name. */
type Deployed = Readonly<
  Record<string, { status?: string; isProtected?: boolean; outputs?: Readonly<Record<string, string>> }>
>;
/** Of a stage's own ledger, identity key and copy of the audit log. */
const [OWN_LEDGER, OWN_KEY, OWN_COPY] = [
  "ExportsOutputRefLedgerB7379752",
  "ExportsOutputFnGetAttIdentityKeyF50EF652",
  "ExportsOutputRefAuditCopyB975A775D0D5C3F1",
];
const ownData = { [OWN_LEDGER]: "ledger-1", [OWN_KEY]: "key-1" };
const twoZones = {
  ExportsOutputRefVpcfunctionsSubnet1SubnetAA838064B02624F7: "subnet-1",
  ExportsOutputRefVpcfunctionsSubnet2SubnetC5D7E58EE890AB1E: "subnet-2",
};
let deployed: Deployed = {};

const answer = ({ Action, StackName = "" }: QueryRequest): QueryAnswer | undefined => {
  const stack = deployed[StackName];
  if (stack === undefined) return { error: "ValidationError", message: `Stack with id ${StackName} does not exist` };
  switch (Action) {
    case "DescribeStacks": {
      const { status = "UPDATE_COMPLETE", isProtected = true, outputs = {} } = stack;
      const members = Object.entries(outputs)
        .map(([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`)
        .join("");
      const fields = `<StackStatus>${status}</StackStatus><EnableTerminationProtection>${isProtected}</EnableTerminationProtection>`;
      return {
        result: `<Stacks><member><StackName>${StackName}</StackName>${fields}<Outputs>${members}</Outputs></member></Stacks>`,
      };
    }
    case "SetStackPolicy":
      events.push("policy");
      return { result: "" };
    default:
      return undefined;
  }
};
const aws = await startFakeAws(answer);
afterAll(() => aws.stop());

/** What happened, in order: runs of the CDK, and settings of the stack policy. */
const events: string[] = [];
let printed = "";
beforeEach(() => {
  aws.enter({ AWS_ACCESS_KEY_ID: "AKIAENV", AWS_SECRET_ACCESS_KEY: "env", AWS_REGION: "us-east-1" });
  events.length = 0;
  printed = "";
  vi.spyOn(console, "log").mockImplementation((text) => {
    printed += text;
  });
});

const prodWith = (changes: object) => settingsOf("prod", { prod: { ...settingsOf("prod", stages), ...changes } });
const cdkThatEnds =
  (code = 0) =>
  async (...args: readonly string[]): Promise<number> => {
    events.push(args.join(" "));
    return code;
  };
const policyBody = () => aws.requests.findLast(({ Action }) => Action === "SetStackPolicy")?.StackPolicyBody ?? "{}";

const all: Deployed = {
  "Prod-Data": { outputs: ownData },
  "Prod-Network": { outputs: twoZones },
  "Prod-Service": {},
};
const atOnce = { release: { kind: "all-at-once" } };

const identityKeyArn = "arn:aws:kms:us-east-1:000000000000:key/mrk-0a1b2c3d0a1b0a1b0a1b0a1b2c3d4e5f";

describe("deployStage", () => {
  test("the stack policy is set before the deployment that could violate it, and after it", async () => {
    deployed = all;
    expect(await deployStage("prod", prodWith({}), cdkThatEnds(0))).toBe(0);
    expect(events).toEqual(["policy", "deploy Prod-Service", "policy"]);
    expect(JSON.parse(policyBody())).toEqual({
      Statement: [
        { Effect: "Allow", Principal: "*", Action: "Update:*", Resource: "*" },
        ...["Update:Replace", "Update:Delete"].map((action) => ({
          Effect: "Deny",
          Principal: "*",
          Action: [action],
          Resource: "*",
          Condition: {
            StringEquals: {
              ResourceType: ["AWS::DynamoDB::Table", "AWS::SecretsManager::Secret", "AWS::KMS::Key"],
            },
          },
        })),
      ],
    });
  });

  const keepsOthers = {
    Action: ["Update:Delete"],
    Condition: { StringEquals: { ResourceType: ["AWS::DynamoDB::Table", "AWS::SecretsManager::Secret"] } },
  };
  test.each([
    ["adopts a ledger lets its own tables go, but not be replaced", stageVariants.adopted?.[1] ?? {}, []],
    ["names another identity key lets its own key go, and nothing else", { identityKeyArn }, [keepsOthers]],
  ])("the stack policy of a stage that %s", async (_what, changes, deletions) => {
    deployed = all;
    await deployStage("prod", prodWith({ ...changes, ...atOnce }), cdkThatEnds(0));
    const { Statement } = JSON.parse(policyBody());
    expect(Statement).toMatchObject([{}, { Action: ["Update:Replace"] }, ...deletions]);
    expect(Statement).toHaveLength(2 + deletions.length);
  });

  test("the data of a first deployment are protected even if a later stack failed", async () => {
    deployed = {};
    const cdk = async (...args: readonly string[]): Promise<number> => {
      deployed = { "Prod-Data": { status: "CREATE_COMPLETE" } };
      return cdkThatEnds(1)(...args);
    };
    expect(await deployStage("prod", prodWith({}), cdk)).toBe(1);
    expect(events).toEqual(["deploy Prod-Service", "policy"]);
  });

  test.each([
    ["adopt and identityKeyArn", {}, {}],
    ["adopt", { [OWN_KEY]: "key-1" }, {}],
    ["adopt", {}, { identityKeyArn }],
    ["identityKeyArn", { [OWN_LEDGER]: "ledger-1" }, {}],
  ])("an older commit without %s is refused, beside data with the outputs %j", async (lost, outputs, changes) => {
    deployed = { ...all, "Prod-Data": { outputs } };
    await expect(deployStage("prod", prodWith(changes), cdkThatEnds(0))).rejects.toThrow(
      `Stage "prod" was deployed with ${lost}, which stages.ts lacks: it would begin with another ledger or identity key.`,
    );
    expect(events).toEqual([]);
  });

  test("the remains of a failed creation have no stack policy", async () => {
    deployed = { "Prod-Data": { status: "ROLLBACK_COMPLETE", isProtected: false } };
    await deployStage("prod", prodWith({}), cdkThatEnds(1));
    expect(events).toEqual(["deploy Prod-Service"]);
  });

  // The CDK protects a stack when it has made the change set of its creation, and cannot delete it if that then fails.
  test.each([
    ["Prod-Data", "ROLLBACK_COMPLETE", ""],
    ["Prod-Network", "ROLLBACK_FAILED", ""],
    ["Prod-Recovery", "ROLLBACK_COMPLETE", " --region eu-west-1"],
  ])(
    "a deployment is refused while the remains of %s are protected, with the command that lifts it",
    async (name, status, place) => {
      deployed = { [name]: { status } };
      const settings = prodWith({ recovery: { region: "eu-west-1" } });
      const command = `aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name ${name}${place}`;
      const sentence = `The creation of ${name} failed, and what is left is protected from deletion, so that it cannot be made again. Run first: ${command}. Nothing was changed.`;
      await expect(deployStage("prod", settings, cdkThatEnds(0))).rejects.toThrow(new SettingsError(sentence));
      expect(events).toEqual([]);
    },
  );

  test("the administrator's deployment is refused while the remains of its own stack are protected", async () => {
    deployed = { "Prod-Administrator": { status: "ROLLBACK_COMPLETE" } };
    await expect(deployAdministrator("prod", prodWith({}), cdkThatEnds(0))).rejects.toThrow(
      /^The creation of Prod-Administrator failed/,
    );
    expect(events).toEqual([]);
  });

  test("the remains of a network that the stage no longer needs hold nothing up", async () => {
    deployed = { "Sandbox-Network": { status: "ROLLBACK_COMPLETE" } };
    expect(await deployStage("sandbox", settingsOf("sandbox", stages), cdkThatEnds(0))).toBe(0);
    expect(events).toEqual(["deploy Sandbox-Service"]);
  });

  test("the service leaves a zone before the network gives it up", async () => {
    deployed = all;
    const egress = { kind: "nat-gateway", zones: ["us-east-1a"] };
    expect(await deployStage("prod", prodWith({ egress }), cdkThatEnds(0))).toBe(0);
    expect(events).toEqual(["policy", "deploy Prod-Data Prod-Service --exclusively", "deploy Prod-Service", "policy"]);
    expect(printed).toBe("Prod-Service leaves what Prod-Network gives up, and is deployed first.");
  });

  test("the network keeps its zones if the service did not leave them", async () => {
    deployed = all;
    const egress = { kind: "nat-gateway", zones: ["us-east-1a"] };
    expect(await deployStage("prod", prodWith({ egress }), cdkThatEnds(1))).toBe(1);
    expect(events).toEqual(["policy", "deploy Prod-Data Prod-Service --exclusively"]);
  });

  test.each([
    [2, ["us-east-1a", "us-east-1b"]],
    [3, ["us-east-1a", "us-east-1b", "us-east-1c"]],
  ])("with %i zones instead of 2 the network is deployed first", async (_count, zones) => {
    deployed = all;
    await deployStage("prod", prodWith({ egress: { kind: "nat-gateway", zones } }), cdkThatEnds(0));
    expect(events).toEqual(["policy", "deploy Prod-Service", "policy"]);
  });

  test.each([
    ["its tables, for adopted ones", stageVariants.adopted?.[1] ?? {}],
    ["its identity key, for another one", { identityKeyArn }],
    ["the copy of its audit log", { auditCopy: undefined }],
  ])("the service leaves %s, before the data give them up", async (_what, changes) => {
    deployed = { ...all, "Prod-Data": { outputs: { ...ownData, [OWN_COPY]: "copy-1" } } };
    const settings = prodWith({ auditCopy: { days: 400 }, ...atOnce, ...changes });
    expect(await deployStage("prod", settings, cdkThatEnds(0))).toBe(0);
    expect(events).toEqual([
      "policy",
      "deploy Prod-Network Prod-Service --exclusively",
      "deploy Prod-Service",
      "policy",
    ]);
    expect(printed).toMatch(/^Prod-Service leaves what Prod-Data gives up, and is deployed first\./);
  });

  test("the service leaves a zone and the tables, before network and data give them up", async () => {
    deployed = all;
    const egress = { kind: "nat-gateway", zones: ["us-east-1a"] };
    await deployStage("prod", prodWith({ ...stageVariants.adopted?.[1], ...atOnce, egress }), cdkThatEnds(0));
    expect(events).toEqual(["policy", "deploy Prod-Service --exclusively", "deploy Prod-Service", "policy"]);
  });

  const adopted = prodWith({ ...stageVariants.adopted?.[1] });
  /** The outputs of a service that uses what these settings name. */
  const adoptedOutputs = {
    AccessTable: "access",
    LedgerTable: "ledger",
    AuditTable: "audit",
    ReferenceKeySecretId: adopted.adopt?.referenceKeySecretArn ?? "",
    ChecksumKeySecretId: adopted.adopt?.checksumKeySecretArn ?? "",
    WebhookKeySecretId: adopted.adopt?.webhookKeySecretArn ?? "",
    IdentityKeyArn: adopted.identityKeyArn ?? "",
  };

  test.each([
    ["adopts its first ledger", ownData, {}, adopted],
    ["names its first identity key", ownData, {}, prodWith({ identityKeyArn })],
    ["adopts another table", {}, { ...adoptedOutputs, AccessTable: "another" }, adopted],
    ["names another identity key", {}, { ...adoptedOutputs, IdentityKeyArn: "another" }, adopted],
  ])(
    "a stage with a canary that %s is refused, because its present versions would lose their permissions",
    async (_what, dataOutputs, outputs, settings) => {
      deployed = { ...all, "Prod-Data": { outputs: dataOutputs }, "Prod-Service": { outputs } };
      await expect(deployStage("prod", settings, cdkThatEnds(0))).rejects.toThrow(
        /^Stage "prod" names tables or keys .* set release: \{ kind: "all-at-once" \} .* Nothing was changed\.$/,
      );
      expect(events).toEqual([]);
      const released = { ...settings, release: { kind: "all-at-once" as const } };
      expect(await deployStage("prod", released, cdkThatEnds(0))).toBe(0);
    },
  );

  test.each<[string, Deployed]>([
    ["uses already", { "Prod-Service": { outputs: adoptedOutputs } }],
    ["is deployed with for the first time", { "Prod-Service": { status: "ROLLBACK_COMPLETE" } }],
  ])("a stage has a canary with the tables and keys that it %s", async (_what, service) => {
    deployed = { ...all, "Prod-Data": {}, ...service };
    expect(await deployStage("prod", adopted, cdkThatEnds(0))).toBe(0);
    expect(events).toContain("deploy Prod-Service");
  });

  test("a stage in an existing VPC without an endpoint of DynamoDB is refused before the deployment", async () => {
    deployed = all;
    const network = { vpcId: "vpc-0a1b2c3d", subnetIds: ["subnet-0a1b2c3d"], addresses: ["203.0.113.1"] };
    // The fake has no EC2.
    await expect(
      deployStage("prod", prodWith({ egress: { kind: "existing", ...network } }), cdkThatEnds(0)),
    ).rejects.toThrow(/^AWS EC2 refuses DescribePrefixLists\./);
    expect(events).toEqual([]);
  });

  test("deploy prints how to delete the network of a stage that has no NAT gateways any more", async () => {
    deployed = { "Sandbox-Network": {}, "Sandbox-Data": {} };
    expect(await deployStage("sandbox", settingsOf("sandbox", stages), cdkThatEnds(0))).toBe(0);
    // A stage for test keys has no stack policy.
    expect(events).toEqual(["deploy Sandbox-Service"]);
    expect(printed).toContain("Not deleted: Sandbox-Network, which Sandbox-Service no longer uses");
    expect(printed).toContain("aws cloudformation delete-stack --stack-name Sandbox-Network");
  });

  test("a policy that CloudFormation refuses to set ends in one sentence before the deployment", async () => {
    const denied = await startFakeAws((request) =>
      request.Action === "SetStackPolicy" ? { error: "AccessDenied", message: "not authorized" } : answer(request),
    );
    denied.enter({ AWS_ACCESS_KEY_ID: "AKIAENV", AWS_SECRET_ACCESS_KEY: "env", AWS_REGION: "us-east-1" });
    deployed = all;
    try {
      await expect(deployStage("prod", prodWith({}), cdkThatEnds(0))).rejects.toThrow(
        new SettingsError("AWS CloudFormation refuses. AccessDenied: not authorized"),
      );
      expect(events).toEqual([]);
    } finally {
      await denied.stop();
    }
  });
});

describe("destroyStage", () => {
  test.each<[string, Deployed, RegExp]>([
    [
      "a stage is",
      all,
      /^Prod-Data and Prod-Network must not be deleted by mistake\. If you mean it, run first: aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name Prod-Data && /,
    ],
    [
      "the remains of a failed creation are",
      { "Prod-Data": { isProtected: false }, "Prod-Network": { status: "ROLLBACK_COMPLETE" } },
      /^Prod-Network must not be deleted by mistake\./,
    ],
    // It imports from the others, so it is deleted first: CloudFormation would refuse in the middle of `cdk destroy`.
    [
      "only the administrator's stack is",
      { "Prod-Data": { isProtected: false }, "Prod-Administrator": {} },
      /^Prod-Administrator must not be deleted by mistake\..* --stack-name Prod-Administrator$/,
    ],
  ])(
    "destroy is refused while %s protected, before any stack is deleted, with the command that lifts it",
    async (_what, stacks, message) => {
      deployed = stacks;
      await expect(destroyStage("prod", prodWith({}), cdkThatEnds(0))).rejects.toThrow(message);
      expect(events).toEqual([]);
    },
  );

  test("a stage with copies is refused while their stack in the other region is protected", async () => {
    deployed = { "Prod-Data": { isProtected: false }, "Prod-Recovery": {} };
    const settings = prodWith({ recovery: { region: "eu-west-1" } });
    await expect(destroyStage("prod", settings, cdkThatEnds(0))).rejects.toThrow(
      /^Prod-Recovery must not be deleted by mistake\..* --stack-name Prod-Recovery --region eu-west-1$/,
    );
    expect(events).toEqual([]);
    const asked = aws.requests.map(({ StackName, SigningRegion }) => [StackName, SigningRegion]);
    expect(Object.fromEntries(asked)).toEqual({
      "Prod-Data": "us-east-1",
      "Prod-Network": "us-east-1",
      "Prod-Administrator": "us-east-1",
      "Prod-Recovery": "eu-west-1",
    });
  });

  test("destroy prints how to delete a network that the stage has left, because the app has no such stack", async () => {
    deployed = { "Sandbox-Network": { isProtected: false } };
    expect(await destroyStage("sandbox", settingsOf("sandbox", stages), cdkThatEnds(0))).toBe(0);
    expect(printed).toContain("Not deleted: Sandbox-Network, which Sandbox-Service no longer uses");
    expect(printed).toContain("aws cloudformation delete-stack --stack-name Sandbox-Network");
  });

  test("destroy deletes an unprotected stage, and prints what it does not delete", async () => {
    deployed = { "Prod-Data": { isProtected: false }, "Prod-Network": { isProtected: false } };
    expect(await destroyStage("prod", prodWith({}), cdkThatEnds(0))).toBe(0);
    expect(events).toEqual(["destroy --all"]);
    expect(printed).toMatch(
      /^Not deleted: the access, ledger and audit tables, the reference, checksum and webhook keys(, the identity key, the bucket of the trail of direct access)?, and the elastic IPs\./,
    );
  });

  test("destroy names the bucket with the copy of the audit log, which stays", async () => {
    deployed = { "Prod-Data": { isProtected: false } };
    expect(await destroyStage("prod", prodWith({ auditCopy: { days: 400 } }), cdkThatEnds(0))).toBe(0);
    expect(printed).toContain(", the bucket of auditCopy");
  });
});
