import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { OperatorError } from "../../shared/platform/operator-error.ts";

/**
 * The identity as which AWS sees the operator. It needs no permission. Where it cannot be learnt, nothing may be changed, because the
 * record of the change would lack it.
 */
export const callerArn = async (): Promise<string> => {
  const client = new STSClient({ maxAttempts: 2 });
  try {
    const { Arn } = await client.send(new GetCallerIdentityCommand({}));
    if (Arn === undefined) throw new Error("the answer has no ARN");
    return Arn;
  } catch (error) {
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    throw new OperatorError(`AWS STS does not say who you are, and every change is recorded with that: ${reason}`, {
      cause: error,
    });
  } finally {
    client.destroy();
  }
};
