import { GetFunctionConcurrencyCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { SettingsError } from "../../infra/settings-error.ts";
import type { StageSettings } from "../../infra/stage-settings.ts";
import { sum } from "../../shared/platform/sum.ts";
import { readAccountConcurrency, UNRESERVED_MIN } from "../aws/concurrency.ts";
import { isDenied, withClient } from "../aws/with-client.ts";

/** Refuses a reservation that AWS would refuse in the middle of the deployment. */
export const assertReservable = async (stage: string, { reservedConcurrency }: StageSettings): Promise<void> => {
  const wanted = Object.entries(reservedConcurrency);
  if (wanted.length === 0) return;
  try {
    const { ConcurrentExecutions: limit, UnreservedConcurrentExecutions: unreserved } = await readAccountConcurrency();
    // CloudFormation may raise one function before it lowers another.
    const now = await reservedNow(stage, wanted);
    const more = sum(wanted.map(([, reserved], position) => Math.max(0, reserved - (now[position] ?? 0))));
    if (more === 0 || unreserved - more >= UNRESERVED_MIN) return;
    throw new SettingsError(
      `Stage "${stage}" reserves ${more} more concurrent executions (reservedConcurrency in stages.ts), but AWS keeps ${UNRESERVED_MIN} of an account's for functions without a reservation, and this account has ${unreserved} of ${limit} unreserved. Lower what is reserved in a deployment before, remove reservedConcurrency, or ask AWS for a quota of ${limit - unreserved + more + UNRESERVED_MIN} first: Service Quotas, AWS Lambda, Concurrent executions. Nothing was changed.`,
    );
  } catch (error) {
    // Credentials of a pipeline may be allowed to use the CDK's roles and no more; CloudFormation then checks it.
    if (!isDenied(error)) throw error;
  }
};

/** What the functions have reserved, 0 for one that is not deployed. */
const reservedNow = (
  stage: string,
  wanted: readonly (readonly [name: string, reserved: number])[],
): Promise<readonly number[]> =>
  withClient(new LambdaClient({ maxAttempts: 2 }), (client) => {
    const reservedOf = async (name: string): Promise<number> => {
      const FunctionName = `${stage}-airtime-${name}`;
      try {
        const found = await client.send(new GetFunctionConcurrencyCommand({ FunctionName }));
        return found.ReservedConcurrentExecutions ?? 0;
      } catch (error) {
        if (error instanceof Error && error.name === "ResourceNotFoundException") return 0;
        throw error;
      }
    };
    return Promise.all(wanted.map(([name]) => reservedOf(name)));
  });
