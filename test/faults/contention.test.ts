import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { setAccountStatus, setWhitelist } from "../../shared/access/accounts.ts";
import { rotateKey } from "../../shared/access/keys.ts";
import { MINUTE_MS } from "../../shared/contract/values/durations.ts";
import { koboSchema } from "../../shared/contract/values/money.ts";
import { queueHandler } from "../../shared/lambda/queue-handler.ts";
import { openTransaction } from "../../shared/ledger/open-transaction.ts";
import { emptyWallet, readWallet } from "../../shared/ledger/wallet.ts";
import { namesInOutcome, type OutcomeMessage, outcomeMessage } from "../../shared/orders/outcome-message.ts";
import { deadlineIn } from "../../shared/platform/deadline.ts";
import { applyOutcomeMessage } from "../../shared/upstream-events/apply-outcome-message.ts";
import { aLambdaContext } from "../builders/aws/lambda-context.ts";
import { contend, holding, PRICE_KOBO } from "../builders/dynamodb/contention.ts";
import { startDynamoDbProxy } from "../builders/dynamodb/dynamodb-proxy.ts";
import { dynamodbEndpoint } from "../builders/dynamodb/emulator.ts";
import { emulatorClient, freshTables } from "../builders/dynamodb/tables.ts";
import { admissionCode, OFFICE, openAccess } from "../builders/ledger/access.ts";
import { keyedHashes } from "../builders/ledger/secrets.ts";
import { aTransaction, newTransactionPk } from "../builders/ledger/transaction.ts";
import { FACE_VALUES } from "../builders/upstream/upstream-costs.ts";

/**
 * Goal: callers of a busy wallet wait and are not refused, and the money is exact.
 * Method: the strict layer holds the items of each DynamoDB transaction, as AWS does. lab/load/contention.load.ts has
 * the larger form.
 */
const SEED = 20_261_122;

test.each([{ debits: 120, withinMs: 0, holdMs: 25 }])(
  "of $debits debits of one wallet within $withinMs ms, each holding it for $holdMs ms, none is refused",
  async (contention) => {
    const { debits } = contention;
    const { outcomes, cancelled, takenKobo } = await contend(dynamodbEndpoint, contention, SEED);
    expect(new Set(outcomes)).toEqual(new Set(["opened"]));
    expect(takenKobo).toBe(debits * PRICE_KOBO);
    expect(cancelled / debits).toBeLessThan(12);
  },
);

test("requests while their account is changed are admitted or refused as the account is then, whatever items the changes hold", async () => {
  const gates = await openAccess();
  const { key, keyId, accountId } = await gates.anAccount();
  gates.proxy.beStrict(holding(40), SEED);
  const store = { ...gates.store, db: emulatorClient(gates.proxy.endpoint) };
  const changes = async () => {
    for (let round = 0; round < 5; round += 1) {
      await setWhitelist(store, accountId, [OFFICE, `198.51.100.${round}`]);
      await setAccountStatus(store, accountId, "restricted");
      await setAccountStatus(store, accountId, "active");
    }
    await rotateKey(store, accountId, keyId, MINUTE_MS);
  };
  const requests = async () => {
    const results = new Set<string>();
    for (let request = 0; request < 50; request += 1) results.add(await admissionCode(gates.withKey(key)));
    return results;
  };
  const [results] = await Promise.all([requests(), changes()]);
  expect(results).toContain("admitted");
  expect([...results].filter((result) => !["admitted", "account_restricted"].includes(result))).toEqual([]);
  expect(gates.proxy.strict?.counts.conflict).toBeGreaterThan(0);
  await gates.proxy.stop();
});

test("ten refunds of one wallet in a batch of the outcomes queue are settled in sequence, so that none conflicts with another", async () => {
  const { db, ledgerTable: table } = await freshTables();
  const accountId = `acc_${randomUUID()}`;
  const funds = koboSchema.parse(10 * PRICE_KOBO);
  await db.put({ TableName: table, Item: { ...emptyWallet(accountId, 0), balance_kobo: funds } });
  const proxy = await startDynamoDbProxy(dynamodbEndpoint);
  const ledger = { db: emulatorClient(proxy.endpoint), table, clock: Date.now };
  const transactions = Array.from({ length: 10 }, () =>
    aTransaction({ pk: newTransactionPk(), account_id: accountId, write_token: randomUUID() }),
  );
  for (const transaction of transactions)
    expect((await openTransaction(ledger, transaction, [], deadlineIn(29_000))).kind).toBe("opened");

  const strict = proxy.beStrict(holding(15), SEED);
  const apply = applyOutcomeMessage({ ledger, keyedHashes, costs: FACE_VALUES });
  const handler = queueHandler(outcomeMessage, namesInOutcome, apply, async () => {});
  const Records = transactions.map(({ pk, write_token }, index) => {
    const settlement = { status: "failed", failure: { code: "delivery_failed" } } as const;
    const message: OutcomeMessage = { kind: "settlement", mode: "live", transaction_pk: pk, write_token, settlement };
    return { messageId: String(index), receiptHandle: String(index), body: JSON.stringify(message) };
  });
  expect(await handler({ Records }, aLambdaContext())).toEqual({ batchItemFailures: [] });
  expect((await readWallet(ledger, accountId)).balance_kobo).toBe(funds);
  expect(strict.counts.conflict).toBe(0);
  await proxy.stop();
});
