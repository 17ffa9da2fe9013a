import { existsSync } from "node:fs";
import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import * as z from "#zod";
import { API_URL_OUTPUT, OPERATIONS_URL_OUTPUT, outputOf, stackName, TOPIC_OUTPUTS } from "../../infra/outputs.ts";
import { readStages } from "../../infra/read-stages.ts";
import { type StageSettings, type Stages, settingsOf } from "../../infra/stage-settings.ts";
import { environment } from "../../shared/platform/env.ts";
import type { Urgency } from "../../shared/platform/log-catalog.ts";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { type SecretVariable, secretIds, secretTable } from "../../shared/platform/secret-table.ts";
import { signIn } from "../aws/sign-in.ts";
import { readJsonFile } from "../local/json-file.ts";
import { localAwsEnvironment, setEnvironment } from "../local/local-aws.ts";
import { adminDetails, adminFileOf } from "../local/service-file.ts";

/** The service to operate: its base URL, and the environment of its functions (tables, queues, secrets, addresses). */
export type Target = {
  readonly name: string;
  /** The operator's AWS identity; absent locally. */
  readonly callerArn?: string;
  /** If local, the upstream is called from this machine; a stage calls it from its own addresses only. */
  readonly isLocal: boolean;
  /** Absent locally. */
  readonly stage?: { readonly settings: StageSettings; readonly topicArns: Readonly<Record<Urgency, string>> };
  /** With its `/v1`. */
  readonly baseUrl: string;
  readonly environment: z.output<typeof environment> & Readonly<Record<SecretVariable, string>>;
};

/** The service on this machine. From then on the SDK clients of this process use its endpoints. */
export const localTarget = (serviceFile: string): Target => {
  const path = adminFileOf(serviceFile);
  if (!existsSync(path)) {
    throw new OperatorError(
      `No service is running here (${path} does not exist). Start one with npm start, or set SERVICE_FILE`,
    );
  }
  const details = readJsonFile(path, adminDetails);
  if (details === undefined) throw new OperatorError(`${path} was removed: the service is shutting down`);
  setEnvironment(localAwsEnvironment(details.endpoints));
  try {
    return {
      name: "local",
      isLocal: true,
      baseUrl: details.base_url,
      environment: environmentFrom((variable) => details.environment[variable]),
    };
  } catch (error) {
    if (error instanceof z.$ZodError)
      throw new OperatorError("Another version of the service runs here. Stop it, and run npm start again");
    throw error;
  }
};

type StageAccess = { readonly profile?: string | undefined; readonly known?: Stages };

/** A deployed stage, found by the outputs of its service stack, with the operator's AWS credentials. */
export const stageTarget = async (stage: string, { profile, known }: StageAccess = {}): Promise<Target> => {
  const settings = settingsOf(stage, known ?? (await readStages()));
  const callerArn = await signIn({ stage, ...settings }, { profile });
  const outputs = await outputsOf(stage);
  try {
    return {
      name: stage,
      callerArn,
      isLocal: false,
      stage: {
        settings,
        topicArns: {
          page: z.string().parse(outputs.get(TOPIC_OUTPUTS.page)),
          ticket: z.string().parse(outputs.get(TOPIC_OUTPUTS.ticket)),
        },
      },
      baseUrl: z.string().parse(outputs.get(OPERATIONS_URL_OUTPUT) ?? outputs.get(API_URL_OUTPUT)),
      environment: environmentFrom((variable) => outputs.get(outputOf(variable)) ?? ""),
    };
  } catch (error) {
    if (error instanceof z.$ZodError) throw notFound(stage, "another version deployed the stack. Deploy it again");
    throw error;
  }
};

const environmentFrom = (read: (variable: string) => string | undefined): Target["environment"] => ({
  ...environment.parse(
    Object.fromEntries(Object.keys(environment.shape).map((variable) => [variable, read(variable)])),
  ),
  ...secretIds((name) => read(secretTable[name].variable)),
});

const outputsOf = async (stage: string): Promise<ReadonlyMap<string | undefined, string | undefined>> => {
  const StackName = stackName(stage, "Service");
  const client = new CloudFormationClient({ maxAttempts: 2 });
  try {
    const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName }));
    return new Map(Stacks[0]?.Outputs?.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]));
  } catch (error) {
    const { message } = error instanceof Error ? error : new Error(String(error));
    if (message.endsWith("does not exist")) throw notFound(stage, `there is no stack ${StackName}. Deploy it first`);
    throw notFound(stage, message);
  } finally {
    client.destroy();
  }
};

const notFound = (stage: string, reason: string): OperatorError =>
  new OperatorError(`The outputs of stage ${stage} could not be read: ${reason}`);
