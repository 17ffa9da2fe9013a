import { expect, onTestFinished, test, vi } from "vitest";
import { setAccountLimits } from "../../../shared/access/accounts.ts";
import { openTransaction } from "../../../shared/ledger/open-transaction.ts";
import { walletPk } from "../../../shared/ledger/schema.ts";
import { deadlineIn } from "../../../shared/platform/deadline.ts";
import { loadHandler } from "../../../tools/local/functions.ts";
import { localAwsEnvironment, setEnvironment } from "../../../tools/local/local-aws.ts";
import { startQueues } from "../../../tools/local/queues.ts";
import { aLambdaContext } from "../../builders/aws/lambda-context.ts";
import { changeItem } from "../../builders/dynamodb/change-item.ts";
import { dynamodbEndpoint } from "../../builders/dynamodb/emulator.ts";
import { openLedgerAtNoon } from "../../builders/ledger/ledger-at-noon.ts";
import { captureLog } from "../../builders/run/captured-log.ts";
import { subscribe } from "../../builders/webhooks/subscribe.ts";

/** Goal: the run of each minute enqueues both events that nothing but time brings about. */
test("a low balance and limits of which little is left are enqueued", async () => {
  const ledger = await openLedgerAtNoon();
  const accountId = await ledger.anAccount(1_000);
  const store = { ...ledger.tables, clock: ledger.clock };
  const { order_limits: account } = await setAccountLimits(store, accountId, { day_orders: 1, month_orders: 1 });
  await subscribe(ledger, accountId, ["wallet.low", "limit.near"]);
  const limits = { limits: { account, key: undefined }, timeZone: "Africa/Lagos" };
  await openTransaction(ledger, ledger.aTransaction(accountId), [], deadlineIn(29_000), { limits });
  await changeItem(ledger, walletPk(accountId), { low_balance_threshold_kobo: 500_01 });
  const sqs = await startQueues({ delivery: { consumer: "", batchSize: 1, visibilityTimeoutS: 30, receivesMax: 3 } });
  onTestFinished(sqs.stop);
  onTestFinished(
    setEnvironment({
      ...localAwsEnvironment({ dynamodb: dynamodbEndpoint, sqs: sqs.endpoint, secretsManager: "" }),
      ...{ LEDGER_TABLE: ledger.table, DELIVERY_QUEUE_URL: sqs.url("delivery") },
    }),
  );
  vi.useFakeTimers({ toFake: ["Date"], now: ledger.nowMs });
  onTestFinished(() => void vi.useRealTimers());
  const handler = await loadHandler("requeue-deliveries", new URL("../../../functions/", import.meta.url));
  const log = captureLog();
  await handler({}, aLambdaContext());
  expect(log.lines("requeue-deliveries.ran")).toMatchObject([{ low_balances: 1, near_limits: 2 }]);
});
