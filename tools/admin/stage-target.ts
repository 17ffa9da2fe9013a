import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import * as z from "#zod";
import { API_URL_OUTPUT, OPERATIONS_URL_OUTPUT, outputOf, stackName, TOPIC_OUTPUTS } from "../../infra/outputs.ts";
import { readStages } from "../../infra/read-stages.ts";
import { type Stages, sells, settingsOf } from "../../infra/stage-settings.ts";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { signIn } from "../aws/sign-in.ts";
import { environmentFrom, type Target } from "./target.ts";

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
        sells: sells(settings),
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
