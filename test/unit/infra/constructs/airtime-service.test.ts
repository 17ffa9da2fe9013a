import { Aws, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import { Key, KeySpec, KeyUsage } from "aws-cdk-lib/aws-kms";
import { expect, test } from "vitest";
import { AirtimeService, type AirtimeServiceProps } from "../../../../infra/constructs/airtime-service.ts";
import { unbundledApp } from "../../../../infra/constructs/unbundled-app.ts";
import { stages } from "../../../../stages.ts";
import { readTemplate } from "../../../builders/templates/templates.ts";

const env = { account: "111122223333", region: "eu-west-1" };
const stream = `arn:aws:dynamodb:${env.region}:${env.account}:table/restored-ledger/stream/2026-01-01T00:00:00.000`;
const secret = `arn:aws:secretsmanager:${env.region}:${env.account}:secret`;
const adopt = {
  accessTableName: "old-access",
  ledgerTableName: "restored-ledger",
  ledgerStreamArn: stream,
  auditTableName: "old-audit",
  auditStreamArn: stream,
  referenceKeySecretArn: `${secret}:reference-AbCdEf`,
  checksumKeySecretArn: `${secret}:checksum-AbCdEf`,
  webhookKeySecretArn: `${secret}:webhook-AbCdEf`,
};

const { domain: _, ...sandbox } = stages.sandbox;

const appWith = (props: Partial<AirtimeServiceProps>) => {
  const app = unbundledApp();
  const company = new Stack(app, "Company", { env });
  const identityKey = new Key(company, "Key", {
    keySpec: KeySpec.HMAC_256,
    keyUsage: KeyUsage.GENERATE_VERIFY_MAC,
    multiRegion: true,
  });
  const add = (more: Partial<AirtimeServiceProps>) =>
    new AirtimeService(company, "Airtime", { ...sandbox, stage: "shop", ...props, ...more });
  return { identityKey, add };
};

test("a construct adopts a restored ledger with the key of the app that hashed its numbers", () => {
  const { identityKey, add } = appWith({ ...env, adopt });
  const stacks = add({ identityKey })
    .node.findAll()
    .filter((construct) => Stack.isStack(construct));
  const service = stacks.find(({ stackName }) => stackName === "Shop-Service");
  const { outputs } = readTemplate(service && Template.fromStack(service).toJSON());
  expect(outputs.LedgerTable?.Value).toBe("restored-ledger");
  expect(outputs.IdentityKeyArn?.Value).toEqual({
    "Fn::ImportValue": expect.stringContaining("Company:ExportsOutputFnGetAttKey"),
  });
});

test("the stacks of a construct keep what the others use, also in an app whose references are weak", () => {
  const company = new Stack(unbundledApp(), "Company", { env });
  company.node.setContext("@aws-cdk/core:defaultCrossStackReferences", "weak");
  const stacks = new AirtimeService(company, "Airtime", { ...sandbox, ...env, stage: "shop" }).node
    .findAll()
    .filter((construct) => Stack.isStack(construct));
  const templates = JSON.stringify(stacks.map((stack) => Template.fromStack(stack).toJSON()));
  expect(templates).toContain('"Fn::ImportValue":"Shop-Data:');
  expect(templates).toContain('"Fn::ImportValue":"Shop-Service:');
  expect(templates).not.toContain("Fn::GetStackOutput");
});

test("a construct refuses to adopt a ledger without that key, and a key if the stage names no account and region", () => {
  expect(() => appWith({ ...env, adopt }).add({})).toThrow("needs the key that hashed its numbers");
  const { identityKey, add } = appWith({});
  expect(() => add({ identityKey })).toThrow("The key must be in the stage's account and region");
});

test("a construct refuses a domain that API Gateway would refuse in the middle of the deployment, and takes a name that is a parameter", () => {
  const withDomain = (name: string): void => {
    const app = unbundledApp();
    const company = new Stack(app, "Company", { env });
    const certificate = Certificate.fromCertificateArn(
      company,
      "Certificate",
      `arn:aws:acm:${env.region}:${env.account}:certificate/1`,
    );
    new AirtimeService(company, "Airtime", { ...sandbox, ...env, stage: "shop", domain: { name, certificate } });
  };
  expect(() => withDomain("https://api.example.com")).toThrow(
    '"https://api.example.com" is no name of a domain: must be a host name in lower case, such as api.example.com.',
  );
  expect(() => withDomain(`${Aws.STACK_NAME}.example.com`)).not.toThrow();
});
