import { DescribeContinuousBackupsCommand, DescribeTimeToLiveCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { tables } from "../../../infra/tables.ts";
import type { Stage } from "../context.ts";
import { assertThat, found, type Outcome } from "../outcome.ts";

/** No order shows whether a table can be restored, or whether what expired in it is deleted. */
export const checkTables = async ({ outputs }: Stage): Promise<Outcome> => {
  const client = new DynamoDBClient({});
  const durable = [outputs.AccessTable, outputs.LedgerTable, outputs.AuditTable];
  const wrong = (
    await Promise.all([...durable.map((name) => recovery(client, name)), expiry(client, outputs.CacheTable)])
  ).flat();
  assertThat(wrong.length === 0, wrong.join("; "));
  return found(`${durable.length} tables can be restored to any second, and items of the cache expire`);
};

const recovery = async (client: DynamoDBClient, TableName: string): Promise<readonly string[]> => {
  const { ContinuousBackupsDescription } = await client.send(new DescribeContinuousBackupsCommand({ TableName }));
  const { PointInTimeRecoveryStatus } = ContinuousBackupsDescription?.PointInTimeRecoveryDescription ?? {};
  return PointInTimeRecoveryStatus === "ENABLED" ? [] : [`${TableName} has no point-in-time recovery`];
};

const expiry = async (client: DynamoDBClient, TableName: string): Promise<readonly string[]> => {
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
  const { TimeToLiveStatus, AttributeName } = TimeToLiveDescription ?? {};
  const isOn = TimeToLiveStatus === "ENABLED" || TimeToLiveStatus === "ENABLING";
  return isOn && AttributeName === tables.cache.ttl ? [] : [`${TableName} deletes no item that expired`];
};
