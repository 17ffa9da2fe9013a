import * as z from "#zod";
import { ACCOUNT_ID, REGION } from "../../../tools/local/local-aws.ts";
import type { StackTemplate } from "../templates/templates.ts";

const arn = (service: string, resource: string): string => `arn:aws:${service}:${REGION}:${ACCOUNT_ID}:${resource}`;

/** `Ref` and `Fn::GetAtt` of each type that policies name. Names are logical ids without CDK's suffixes. */
const references: Readonly<Record<string, (name: string) => Readonly<Record<string, string>>>> = {
  "AWS::ApiGatewayV2::Api": (name) => ({ Ref: name.toLowerCase() }),
  "AWS::Backup::BackupVault": (name) => ({ Ref: name, BackupVaultArn: arn("backup", `backup-vault:${name}`) }),
  "AWS::DynamoDB::Table": (name) => ({
    Ref: name,
    Arn: arn("dynamodb", `table/${name}`),
    StreamArn: arn("dynamodb", `table/${name}/stream/2026-11-23T00:00:00.000`),
  }),
  "AWS::Events::Rule": (name) => ({ Ref: name, Arn: arn("events", `rule/${name}`) }),
  "AWS::KMS::Key": (name) => ({ Ref: name, Arn: arn("kms", `key/${name}`) }),
  "AWS::Lambda::Function": (name) => ({ Ref: name, Arn: arn("lambda", `function:${name}`) }),
  "AWS::Logs::LogGroup": (name) => ({ Ref: name, Arn: arn("logs", `log-group:${name}:*`) }),
  "AWS::S3::Bucket": (name) => ({ Ref: name.toLowerCase(), Arn: `arn:aws:s3:::${name.toLowerCase()}` }),
  "AWS::SecretsManager::Secret": (name) => ({ Ref: arn("secretsmanager", `secret:${name}-a1b2c3`) }),
  "AWS::SNS::Topic": (name) => ({ Ref: arn("sns", name) }),
  "AWS::SQS::Queue": (name) => ({ Ref: name, Arn: arn("sqs", name) }),
};
const PSEUDO_PARAMETERS: Readonly<Record<string, string>> = {
  "AWS::AccountId": ACCOUNT_ID,
  "AWS::Partition": "aws",
  "AWS::Region": REGION,
};

/** A logical id without the hash that CDK appends. */
export const nameOf = (logicalId: string): string => logicalId.replace(/[0-9A-F]{8}$/, "");

export const isKnownType = (type: string): boolean => Object.hasOwn(references, type);

/** The ARN of a resource by its name. */
export const arnOf = (type: string, name: string): string => {
  const { Arn, Ref } = references[type]?.(name) ?? {};
  const found = Arn ?? Ref;
  if (found === undefined) throw new Error(`The ARNs of ${type} are not known here`);
  return found;
};

const call = z.union([
  z.strictObject({ Ref: z.string() }),
  z.strictObject({ "Fn::GetAtt": z.tuple([z.string(), z.string()]) }),
  z.strictObject({ "Fn::ImportValue": z.string() }),
  z.strictObject({ "Fn::Join": z.tuple([z.string(), z.array(z.unknown())]) }),
]);

/** What replaces the references in a value of one of the stacks by fixed names and ARNs. */
export const resolverOf = (stacks: readonly StackTemplate[]): ((value: unknown) => unknown) => {
  const types = new Map(stacks.flatMap(({ every }) => every.map(({ id, Type }) => [id, Type] as const)));
  const exported = new Map(
    stacks.flatMap(({ outputs }) => Object.values(outputs).map(({ Value, Export }) => [Export?.Name, Value] as const)),
  );

  const referenceOf = (id: string, attribute: string): string => {
    const type = types.get(id) ?? "";
    const found = references[type]?.(nameOf(id))[attribute];
    if (found === undefined) throw new Error(`What is ${attribute} of ${id}, a ${type}?`);
    return found;
  };
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (value === null || typeof value !== "object") return value;
    const { data } = call.safeParse(value);
    if (data === undefined) {
      const unknown = Object.keys(value).find((key) => key === "Ref" || key.startsWith("Fn::"));
      if (unknown !== undefined) throw new Error(`${unknown} is not resolved here: ${JSON.stringify(value)}`);
      return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, resolve(part)]));
    }
    if ("Ref" in data) return PSEUDO_PARAMETERS[data.Ref] ?? referenceOf(data.Ref, "Ref");
    if ("Fn::GetAtt" in data) return referenceOf(...data["Fn::GetAtt"]);
    if ("Fn::Join" in data) return data["Fn::Join"][1].map(resolve).join(data["Fn::Join"][0]);
    if (!exported.has(data["Fn::ImportValue"])) throw new Error(`No stack exports ${data["Fn::ImportValue"]}`);
    return resolve(exported.get(data["Fn::ImportValue"]));
  };
  return resolve;
};
