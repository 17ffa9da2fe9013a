import { CloudFormationClient } from "@aws-sdk/client-cloudformation";
import * as z from "#zod";
import { API_URL_OUTPUT, OPERATIONS_URL_OUTPUT, outputOf, stackName, TOPIC_OUTPUTS } from "../../infra/outputs.ts";
import { readStages } from "../../infra/read-stages.ts";
import { type Stages, sells, settingsOf } from "../../infra/stage-settings.ts";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { findStack } from "../aws/find-stack.ts";
import { signIn } from "../aws/sign-in.ts";
import { withClient } from "../aws/with-client.ts";
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
  const name = stackName(stage, "Service");
  const stack = await withClient(new CloudFormationClient({ maxAttempts: 2 }), (client) =>
    findStack(client, name),
  ).catch((error: unknown) => {
    throw notFound(stage, error instanceof Error ? error.message : String(error));
  });
  if (stack === undefined) throw notFound(stage, `there is no stack ${name}. Deploy it first`);
  return new Map(stack.Outputs?.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]));
};

const notFound = (stage: string, reason: string): OperatorError =>
  new OperatorError(`The outputs of stage ${stage} could not be read: ${reason}`);
