import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CloudFormationClient,
  CreateStackCommand,
  DescribeStacksCommand,
  waitUntilStackCreateComplete,
} from "@aws-sdk/client-cloudformation";
import { expect, test } from "vitest";
import * as z from "#zod";
import { projectRoot } from "../../../infra/bundle/project-root.ts";
import { callableUrl } from "../deployed-stage.ts";
import { ACCOUNT, REGION } from "../emulator.ts";
import { buy, emulator, folder, newCaller, scratch, succeeds } from "./company.ts";

/** Goal: what else a company does with the package: its own app has the service, or other tools than the CDK deploy it. */

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
  const { client: shop } = await newCaller({ baseUrl: callableUrl(emulator, outputs), outputs });
  expect(await buy(shop, "plain")).toMatchObject({ status: "success", callerReference: "plain" });
});
