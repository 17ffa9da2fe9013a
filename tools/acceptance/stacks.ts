import { CloudFormationClient, DeleteStackCommand, type Stack } from "@aws-sdk/client-cloudformation";
import { stackName } from "../../infra/outputs.ts";
import { findStack } from "../aws/find-stack.ts";
import { simulatorStackName } from "./context.ts";

const client = (): CloudFormationClient => new CloudFormationClient({ maxAttempts: 5 });

/** The tag of everything that this command deploys; its value is the stage. Nothing without it is ever deleted. */
export const TAG = "throw-away-stage";

/** The stacks of a stage and its simulator, in the order in which they can be deleted. */
export const stackNames = (stage: string): readonly string[] => [
  stackName(stage, "Administrator"),
  stackName(stage, "Service"),
  stackName(stage, "Network"),
  stackName(stage, "Data"),
  simulatorStackName(stage),
];

/** A stack that exists in whatever state; undefined if there is none. */
export const existingStack = async (name: string): Promise<Stack | undefined> => {
  const stack = await findStack(client(), name);
  return stack?.StackStatus === "DELETE_COMPLETE" ? undefined : stack;
};

export const outputsOf = async (name: string): Promise<Readonly<Record<string, string | undefined>>> => {
  const { Outputs = [] } = (await existingStack(name)) ?? {};
  return Object.fromEntries(Outputs.map(({ OutputKey = "", OutputValue }) => [OutputKey, OutputValue]));
};

/** False while CloudFormation does not accept a deletion, because it is still changing the stack. */
export const deleteStack = async (StackName: string): Promise<boolean> => {
  try {
    await client().send(new DeleteStackCommand({ StackName }));
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === "ValidationError") return false;
    throw error;
  }
};
