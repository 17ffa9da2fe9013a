import { DynamoDBClient, UpdateContinuousBackupsCommand } from "@aws-sdk/client-dynamodb";
import {
  GetFunctionConfigurationCommand,
  LambdaClient,
  UpdateFunctionConfigurationCommand,
  waitUntilFunctionUpdatedV2,
} from "@aws-sdk/client-lambda";
import { functionNames, specOf } from "../../infra/functions.ts";

/** What differs where an AWS emulator is used in place of AWS: in the project's own test of this command. */

/** The emulator's endpoint; undefined on AWS. */
export const emulatorEndpoint = (): string | undefined => process.env.AWS_ENDPOINT_URL;

/** Why a step does not run on the emulator. */
export const emulatorSkips = {
  hundredPurchases: "the emulator runs each simultaneous invocation in a process, and 200 do not fit on a machine",
  metrics: "the emulator has no metrics of APIs, streams, queues and tables",
} as const;

/** The URL of an API, for a process on this machine: the emulator's own host names resolve nowhere. */
export const callable = (url: string): string => {
  const endpoint = emulatorEndpoint();
  if (endpoint === undefined) return url;
  const { hostname, pathname } = new URL(url);
  return `${endpoint}/_aws/execute-api/${hostname.split(".")[0]}/$default${pathname}`;
};

const LOOPBACK = "127.0.0.1/32";

/**
 * The emulator's APIs have no HTTPS, which the settings of every stage demand of an upstream, and are at loopback, where
 * no stage sends webhooks. So the deployed functions get the address at which it serves the simulator, and may send
 * webhooks there.
 */
export const letFunctionsReachSimulator = async (stage: string, simulatorUrl: string): Promise<void> => {
  const client = new LambdaClient({});
  const values = { UPSTREAM_BASE_URL: callable(simulatorUrl), WEBHOOK_ALLOWED_CIDRS: LOOPBACK };
  // The stage's upstream cannot be asked for an order, and it may have no console.
  const deployed = functionNames
    .map((name) => ({ name, ...specOf(name) }))
    .filter(({ asksUpstream, needsConsole }) => !asksUpstream && !needsConsole);
  for (const { name, environment } of deployed) {
    const changed = Object.entries(values).filter(([variable]) => environment?.some((each) => each === variable));
    if (changed.length === 0) continue;
    const FunctionName = `${stage}-airtime-${name}`;
    const { Environment } = await client.send(new GetFunctionConfigurationCommand({ FunctionName }));
    const Variables = { ...Environment?.Variables, ...Object.fromEntries(changed) };
    await client.send(new UpdateFunctionConfigurationCommand({ FunctionName, Environment: { Variables } }));
    await waitUntilFunctionUpdatedV2({ client, maxWaitTime: 20 }, { FunctionName });
  }
  client.destroy();
};

/** The emulator ignores this setting of a stack's tables. */
export const enablePointInTimeRecovery = async (TableName: string): Promise<void> => {
  const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
  const client = new DynamoDBClient({});
  await client.send(new UpdateContinuousBackupsCommand({ TableName, PointInTimeRecoverySpecification }));
  client.destroy();
};
