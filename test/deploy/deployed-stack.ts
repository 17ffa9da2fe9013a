import { inflateRawSync } from "node:zlib";
import { CloudFormationClient, GetTemplateCommand, paginateListStackResources } from "@aws-sdk/client-cloudformation";
import { GetFunctionCommand, LambdaClient } from "@aws-sdk/client-lambda";

/** A stack as deployed by CloudFormation. */
export type DeployedStack = {
  /** The text of its template. */
  readonly template: string;
  /** `AWS::Lambda::Function CREATE_COMPLETE` by logical id. */
  readonly resources: ReadonlyMap<string, string>;
  /** The code of its functions by logical id. */
  readonly bundles: ReadonlyMap<string, string>;
};

export const readStack = async (StackName: string): Promise<DeployedStack> => {
  const client = new CloudFormationClient({});
  const resources = new Map<string, string>();
  const bundles = new Map<string, string>();
  for await (const { StackResourceSummaries = [] } of paginateListStackResources({ client }, { StackName })) {
    for (const {
      LogicalResourceId: id = "",
      PhysicalResourceId,
      ResourceType,
      ResourceStatus,
    } of StackResourceSummaries) {
      resources.set(id, `${ResourceType} ${ResourceStatus}`);
      if (ResourceType === "AWS::Lambda::Function") bundles.set(id, await bundleOf(PhysicalResourceId ?? ""));
    }
  }
  return { template: await templateOf(StackName), resources, bundles };
};

/** The text of the template that a stack was deployed with last. */
export const templateOf = async (StackName: string): Promise<string> => {
  const command = new GetTemplateCommand({ StackName, TemplateStage: "Original" });
  return (await new CloudFormationClient({}).send(command)).TemplateBody ?? "";
};

/** The bundle in a function's archive, which may hold the SDK too. */
const bundleOf = async (FunctionName: string): Promise<string> => {
  const { Code } = await new LambdaClient({}).send(new GetFunctionCommand({ FunctionName }));
  const zip = Buffer.from(await (await fetch(Code?.Location ?? "")).arrayBuffer());
  const name = "index.mjs";
  const at = zip.indexOf(name);
  // The name ends an entry's header; an extra field, whose length is before the name, and its data follow (PKWARE
  // APPNOTE, 4.3.7).
  return inflateRawSync(zip.subarray(at + name.length + zip.readUInt16LE(at - 2))).toString("utf8");
};
