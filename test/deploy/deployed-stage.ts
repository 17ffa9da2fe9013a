import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CloudFormationClient, CreateStackCommand, waitUntilStackCreateComplete } from "@aws-sdk/client-cloudformation";
import * as z from "#zod";
import { projectRoot } from "../../infra/bundle/project-root.ts";
import { API_URL_OUTPUT, stackName } from "../../infra/outputs.ts";
import { WAIT_MS_MAX } from "../builders/run/until.ts";
import { ACCOUNT, type CommandResult, type Emulator, REGION } from "./emulator.ts";

/** Prepares the emulator's account for a folder's stages, as docs/deployment.md says: once, before the first stage. */
export const bootstrap = async (emulator: Emulator, folder: string): Promise<void> => {
  assertSuccess(
    await emulator.run(folder, "npx", "cdk", "bootstrap", `aws://${ACCOUNT}/${REGION}`, "--app", ""),
    "cdk bootstrap",
  );
};

/** Where the CDK's command line has the template that it bootstraps with. */
const TOOLKIT = join(projectRoot, "node_modules/aws-cdk/lib/api/bootstrap/bootstrap-template.yaml");

/**
 * Makes the stack that `bootstrap` makes in the account of this process's environment, where a test is not about that
 * command, which takes longer.
 */
export const createToolkit = async (): Promise<void> => {
  const client = new CloudFormationClient({});
  const StackName = "CDKToolkit-airtime";
  await client.send(
    new CreateStackCommand({
      StackName,
      TemplateBody: readFileSync(TOOLKIT, "utf8"),
      Parameters: [
        { ParameterKey: "Qualifier", ParameterValue: "airtime" },
        { ParameterKey: "FileAssetsBucketKmsKeyId", ParameterValue: "AWS_MANAGED_KEY" },
      ],
      Capabilities: ["CAPABILITY_NAMED_IAM"],
    }),
  );
  await waitUntilStackCreateComplete(
    { client, maxWaitTime: WAIT_MS_MAX / 1_000, minDelay: 1, maxDelay: 1 },
    { StackName },
  );
};

export type DeployedStage = {
  /** The URL of the interface, with `/v1`, and a host that this process can resolve. */
  readonly baseUrl: string;
  /** The outputs of its service stack. */
  readonly outputs: Readonly<Record<string, string>>;
};

/** Deploys a stage of a checkout with the command that deploys it to AWS. */
export const deployStage = async (
  emulator: Emulator,
  stage: string,
  folder: string = projectRoot,
): Promise<DeployedStage> => {
  const scratch = mkdtempSync(join(tmpdir(), "outputs-"));
  try {
    const file = join(scratch, "outputs.json");
    // A folder of its own: the CDK refuses to synthesise into one that another command reads.
    const output = join(scratch, "cdk.out");
    const options = ["--stage", stage, "--require-approval", "never", "--outputs-file", file, "--output", output];
    assertSuccess(await emulator.run(folder, "npm", "run", "deploy", "--", ...options), `npm run deploy of ${stage}`);
    const { [stackName(stage, "Service")]: outputs = {} } = outputsFile.parse(JSON.parse(readFileSync(file, "utf8")));
    return { baseUrl: callableUrl(emulator, outputs), outputs };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
};

/** The URL of the interface of a stage with these outputs, for this process. */
export const callableUrl = ({ endpoint }: Emulator, outputs: DeployedStage["outputs"]): string => {
  const [api] = new URL(outputs[API_URL_OUTPUT] ?? "").hostname.split(".");
  return `${endpoint}/_aws/execute-api/${api}/$default/v1`;
};

const outputsFile = z.record(z.string(), z.record(z.string(), z.string()));

const assertSuccess = ({ code, stdout, stderr }: CommandResult, what: string): void => {
  if (code !== 0) throw new Error(`${what} ended with ${code}:\n${stdout}\n${stderr}`);
};
