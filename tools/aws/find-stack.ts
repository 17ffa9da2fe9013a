import { type CloudFormationClient, DescribeStacksCommand, type Stack } from "@aws-sdk/client-cloudformation";

/** A stack in whatever state; undefined if there is none. */
export const findStack = async (client: CloudFormationClient, StackName: string): Promise<Stack | undefined> => {
  try {
    const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName }));
    return stack;
  } catch (error) {
    if (isNoStack(error)) return undefined;
    throw error;
  }
};

/** Whether AWS refused a call because there is no such stack. */
export const isNoStack = (error: unknown): boolean =>
  error instanceof Error && error.message.endsWith("does not exist");
