import { DescribeTimeToLiveCommand } from "@aws-sdk/client-dynamodb";
import { tables } from "../../../infra/tables.ts";
import { recoveryFaults } from "../../admin/aws-checks.ts";
import { storesOf } from "../caller.ts";
import type { Stage } from "../context.ts";
import { assertThat, found, type Outcome } from "../outcome.ts";

/** No order shows whether a table can be restored, or whether what expired in it is deleted. */
export const checkTables = async (stage: Stage): Promise<Outcome> => {
  const { db } = storesOf(stage).ledger;
  const { AccessTable, LedgerTable, AuditTable, CacheTable } = stage.outputs;
  const durable = [AccessTable, LedgerTable, AuditTable];
  const wrong = (await Promise.all(durable.map((name) => recoveryFaults(db, name)))).flat();
  assertThat(wrong.length === 0, wrong.join("; "));
  const { TimeToLiveDescription } = await db.send(new DescribeTimeToLiveCommand({ TableName: CacheTable }));
  const { TimeToLiveStatus, AttributeName } = TimeToLiveDescription ?? {};
  const isOn = TimeToLiveStatus === "ENABLED" || TimeToLiveStatus === "ENABLING";
  assertThat(isOn && AttributeName === tables.cache.ttl, `${CacheTable} deletes no item that expired`);
  return found(`${durable.length} tables can be restored to any second, and items of the cache expire`);
};
