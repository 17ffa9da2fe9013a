import { randomUUID } from "node:crypto";
import type { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import type { FunctionName } from "../../../infra/functions.ts";
import { createAccount } from "../../../shared/access/accounts.ts";
import { createKey } from "../../../shared/access/keys.ts";
import { builtInSnapshot } from "../../../shared/catalog/built-in-catalog.ts";
import { catalogStore } from "../../../shared/catalog/catalog-store.ts";
import { koboFromNaira } from "../../../shared/contract/values/money.ts";
import { fundWallet } from "../../../shared/ledger/ledger-entry.ts";
import { openTransaction } from "../../../shared/ledger/open-transaction.ts";
import { transactionList, transactionPk } from "../../../shared/ledger/schema.ts";
import { settledTransaction } from "../../../shared/ledger/settle-transaction.ts";
import { deadlineIn } from "../../../shared/platform/deadline.ts";
import { parseIpRanges } from "../../../shared/platform/ip-range.ts";
import { isoTime, systemClock } from "../../../shared/platform/time.ts";
import { systemResolve } from "../../../shared/webhooks/address-guard.ts";
import type { DeliveryMessage } from "../../../shared/webhooks/delivery-queue.ts";
import { setEndpoint } from "../../../shared/webhooks/endpoint.ts";
import { anApiEvent } from "../../../test/builders/aws/api-event.ts";
import { aTransaction } from "../../../test/builders/ledger/transaction.ts";
import { anOrder } from "../../../test/builders/service/service.ts";
import { aNinCheck } from "../../../test/builders/upstream/identity.ts";
import type { Secrets } from "../../../tools/local/secrets.ts";
import { localTableNames } from "../../../tools/local/tables.ts";

/** Below the rate limit of a key, whose requests the instances of all sizes share. */
const KEYS = 40;
const LISTED = 60;

/** What is invoked: the next event of a function. It does its preparations itself, outside of what is measured. */
export type Invocations = Readonly<Record<MeasuredFunction, () => Promise<unknown>>>;
export const measuredFunctions = [
  "purchase",
  "check-identity",
  "list-catalog",
  "read-account",
  "receive-upstream-event",
  "apply-upstream-event",
  "enqueue-webhooks",
  "deliver-webhook",
] as const satisfies readonly FunctionName[];
export type MeasuredFunction = (typeof measuredFunctions)[number];

/** One account with keys, money, transactions and an endpoint, in tables that exist. */
export const prepareInvocations = async (
  db: DynamoDBDocument,
  secrets: Secrets,
  endpointUrl: string,
): Promise<Invocations> => {
  const checksum = async (): Promise<string> => secrets["checksum-key"];
  const store = {
    db,
    accessTable: localTableNames.access,
    ledgerTable: localTableNames.ledger,
    clock: systemClock,
    checksumKey: { value: checksum, refetch: checksum },
  };
  const ledger = { db, table: localTableNames.ledger, clock: systemClock };
  await catalogStore(db, localTableNames.cache).write({ ...builtInSnapshot, fetchedAtMs: systemClock() });
  const { account_id: accountId } = await createAccount(store, { name: "memory", whitelist: ["127.0.0.1"] });
  await fundWallet(ledger, { accountId, fundingId: accountId, amountKobo: koboFromNaira(1_000_000_000) });
  const keys: string[] = [];
  while (keys.length < KEYS) keys.push((await createKey(store, accountId, { mode: "live" })).key);
  const sealingKey = async (): Promise<string> => secrets["webhook-key"];
  await setEndpoint(
    { accounts: store, webhookSealingKey: { value: sealingKey, refetch: sealingKey }, clock: systemClock },
    { allowed: parseIpRanges("127.0.0.0/8,::1/128"), refusedHosts: [], resolve: systemResolve },
    accountId,
    endpointUrl,
  );

  const upstreamReference = `DATA_${randomUUID()}`;
  const anOpen = () =>
    aTransaction({
      pk: transactionPk(randomUUID().replaceAll("-", "").slice(0, 26).toUpperCase()),
      account_id: accountId,
      list_key: transactionList(accountId, "live"),
      write_token: randomUUID(),
      created_at: isoTime(systemClock()),
      updated_at: isoTime(systemClock()),
    });
  for (let count = 0; count < LISTED; count += 1) await openTransaction(ledger, anOpen(), [], deadlineIn(20_000));
  const open = { ...anOpen(), upstream_reference: upstreamReference };
  const settled = settledTransaction(open, { status: "success" });
  await db.put({ TableName: ledger.table, Item: settled });

  let requests = 0;
  const request = (method: "GET" | "POST", path: string, body?: object, routeKey = `${method} ${path}`) => {
    requests += 1;
    return anApiEvent({
      method,
      path,
      routeKey,
      headers: { authorization: `Bearer ${keys[requests % keys.length]}`, "content-type": "application/json" },
      sourceIp: "127.0.0.1",
      ...(body && { body: JSON.stringify(body) }),
    });
  };
  const message = (body: object) => ({
    Records: [{ messageId: randomUUID(), receiptHandle: "none", body: JSON.stringify(body) }],
  });
  const eventData = { reference: upstreamReference, status: "success", amount: 500, type: "data" };
  const token = secrets["webhook-token"];
  return {
    purchase: async () => request("POST", "/v1/vtu/data/purchase", anOrder({ reference: randomUUID() })),
    "check-identity": async () => request("POST", "/v1/identity/nin/verify", aNinCheck({ reference: randomUUID() })),
    "list-catalog": async () => request("GET", "/v1/vtu/data"),
    "read-account": async () => request("GET", "/v1/transactions"),
    "receive-upstream-event": async () => ({
      ...request(
        "POST",
        `/v1/webhooks/upstream/${token}`,
        { event: "transaction.updated", data: eventData },
        "POST /v1/webhooks/upstream/{token}",
      ),
      pathParameters: { token },
    }),
    "apply-upstream-event": async () => {
      // Each event finds the transaction open.
      await db.put({ TableName: ledger.table, Item: open });
      const received_at = isoTime(systemClock());
      const { reference, status } = eventData;
      return message({ kind: "event", mode: "live", received_at, reference, status, amount_kobo: 500_00 });
    },
    "enqueue-webhooks": async () => ({
      Records: [{ dynamodb: { SequenceNumber: "1", OldImage: marshall(open), NewImage: marshall(settled) } }],
    }),
    "deliver-webhook": async () => {
      const delivery = {
        event: "transaction.updated",
        transaction_pk: settled.pk,
        status: "success",
        endpoint: "1",
      } as const;
      return message({ ...delivery, repeat: randomUUID() } satisfies DeliveryMessage);
    },
  };
};
