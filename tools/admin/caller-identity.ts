import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { OperatorError } from "../../shared/platform/operator-error.ts";

/** The operator's AWS identity; reading it needs no permission. Without it no change is made: audit entries need it. */
export const callerArn = async (): Promise<string> => {
  const client = new STSClient({ maxAttempts: 2 });
  try {
    const { Arn } = await client.send(new GetCallerIdentityCommand({}));
    if (Arn === undefined) throw new Error("the response has no ARN");
    return Arn;
  } catch (error) {
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    throw new OperatorError(
      `AWS STS does not return your identity, which every audit entry needs. Check your AWS credentials: ${reason}`,
      {
        cause: error,
      },
    );
  } finally {
    client.destroy();
  }
};
