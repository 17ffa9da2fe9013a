import { DynamoDBClient, UpdateContinuousBackupsCommand, UpdateTimeToLiveCommand } from "@aws-sdk/client-dynamodb";
import {
  GetFunctionConfigurationCommand,
  LambdaClient,
  UpdateFunctionConfigurationCommand,
  waitUntilFunctionUpdatedV2,
} from "@aws-sdk/client-lambda";
import { functionNames, specOf } from "../../infra/functions.ts";
import { tables } from "../../infra/tables.ts";
import type { Stage } from "./context.ts";

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
  // The stage's upstream cannot be asked for an order, and it has no console.
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

/** The emulator ignores these settings of a stack's tables. */
export const enableTableSettings = async ({
  AccessTable,
  LedgerTable,
  AuditTable,
  CacheTable,
}: Stage["outputs"]): Promise<void> => {
  const client = new DynamoDBClient({});
  const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
  for (const TableName of [AccessTable, LedgerTable, AuditTable])
    await client.send(new UpdateContinuousBackupsCommand({ TableName, PointInTimeRecoverySpecification }));
  const TimeToLiveSpecification = { Enabled: true, AttributeName: tables.cache.ttl };
  await client.send(new UpdateTimeToLiveCommand({ TableName: CacheTable, TimeToLiveSpecification }));
  client.destroy();
};
