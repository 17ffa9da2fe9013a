import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DynamoDBClient,
  RestoreTableToPointInTimeCommand,
} from "@aws-sdk/client-dynamodb";
import { HOUR_MS, MINUTE_MS } from "../../../shared/contract/values/durations.ts";
import { readWallet } from "../../../shared/ledger/wallet.ts";
import { carryItems } from "../../admin/carry-over/items.ts";
import { recomputeWallets } from "../../admin/carry-over/wallets.ts";
import { AIRTIME_NAIRA, buyAirtime, DELIVERED, newCaller, storesOf } from "../caller.ts";
import type { Context, Stage, Wait } from "../context.ts";
import { restoredTableName } from "../left-behind.ts";
import { assertThat, found, type Outcome } from "../outcome.ts";
import type { SetUp } from "./set-up.ts";

const ORDERS = 3;
const RESTORED_MS_MAX = 2 * HOUR_MS;
const RESTORABLE_MS_MAX = 20 * MINUTE_MS;
const POLL_MS = 15_000;

/**
 * The short form of docs/recovery.md, "Restore the ledger": restores the ledger to a moment before some orders, carries
 * them over, and compares. The stage is not switched over to the restored table.
 */
export const restoreLedger = async (
  { stage: name, wait }: Context,
  stage: Stage,
  { address }: SetUp,
): Promise<Outcome> => {
  const client = new DynamoDBClient({});
  const { ledger } = storesOf(stage);
  const [from, to] = [ledger.table, restoredTableName(name)];
  const latest = await latestRestorable(client, from, wait);
  const restore = { SourceTableName: from, TargetTableName: to, RestoreDateTime: latest };
  await client.send(new RestoreTableToPointInTimeCommand(restore));

  const caller = await newCaller(stage, { address, naira: ORDERS * AIRTIME_NAIRA });
  for (let count = 0; count < ORDERS; count += 1) {
    const order = { reference: `after-${crypto.randomUUID()}`, phoneNumber: DELIVERED };
    const bought = await buyAirtime(stage, caller.keys[0] ?? "", order);
    assertThat("status" in bought, `an order during the restore was answered ${JSON.stringify(bought)}`);
  }
  const startedMs = Date.now();
  while (!(await isActive(client, to))) {
    assertThat(Date.now() - startedMs < RESTORED_MS_MAX, "the restore did not end within two hours");
    await wait(POLL_MS, "the restored table; AWS takes minutes to tens of minutes");
  }
  const restoredS = Math.round((Date.now() - startedMs) / 1_000);

  const logProgress = (): void => {};
  const tables = { db: ledger.db, from, to };
  const carried = await carryItems(tables, { isDryRun: false, logProgress });
  assertThat(carried.discrepancies.length === 0, `the ledgers differ: ${JSON.stringify(carried.discrepancies)}`);
  const copied = carried.counts.get("transactions")?.copied ?? 0;
  assertThat(copied >= ORDERS, `${copied} transactions were carried over instead of ${ORDERS} or more`);
  const restored = { ...ledger, table: to };
  const wallets = await recomputeWallets(restored, carried.accountIds, { plannedChanges: new Map(), logProgress });
  const wrong = wallets.filter(({ result }) => result !== "right" && result !== "corrected");
  assertThat(wrong.length === 0, `wallets of the restored ledger are ${wrong.map(({ result }) => result).join(", ")}`);
  for (const accountId of carried.accountIds) {
    const [before, after] = [await readWallet(ledger, accountId), await readWallet(restored, accountId)];
    assertThat(
      before.balance_kobo === after.balance_kobo,
      `the wallet of ${accountId} has ${after.balance_kobo} kobo instead of ${before.balance_kobo}`,
    );
  }
  const again = (await carryItems(tables, { isDryRun: true, logProgress })).counts.get("transactions");
  assertThat(again?.copied === 0 && again.updated === 0, "transactions would be carried over a second time");
  return found(
    `restored in ${restoredS} s; ${copied} transactions carried over, all ${carried.accountIds.size} balances exact`,
  );
};

const isActive = async (client: DynamoDBClient, TableName: string): Promise<boolean> => {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  return Table?.TableStatus === "ACTIVE";
};

/** A new table can be restored to its first moments only after some minutes. */
const latestRestorable = async (client: DynamoDBClient, TableName: string, wait: Wait): Promise<Date> => {
  for (const untilMs = Date.now() + RESTORABLE_MS_MAX; ; ) {
    const { ContinuousBackupsDescription } = await client.send(new DescribeContinuousBackupsCommand({ TableName }));
    const recovery = ContinuousBackupsDescription?.PointInTimeRecoveryDescription;
    assertThat(recovery?.PointInTimeRecoveryStatus === "ENABLED", "the ledger has no point-in-time recovery");
    const { EarliestRestorableDateTime: earliest, LatestRestorableDateTime: latest } = recovery;
    if (earliest && latest && earliest <= latest) return latest;
    assertThat(Date.now() < untilMs, "the ledger cannot be restored to any moment yet");
    await wait(POLL_MS, "the first moment to which the ledger can be restored");
  }
};
