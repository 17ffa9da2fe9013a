import { marshall } from "@aws-sdk/util-dynamodb";
import { readTransaction } from "../../../shared/ledger/find-transactions.ts";
import { pkOfReference } from "../../../shared/ledger/transaction.ts";
import { parseIpRanges } from "../../../shared/platform/ip-range.ts";
import { systemResolve } from "../../../shared/webhooks/address-guard.ts";
import { setEndpoint } from "../../../shared/webhooks/endpoint.ts";
import { loadFunctions } from "../../../tools/local/functions.ts";
import { anOrder, BUY_DATA, type TestService, transactionOf } from "../service/service.ts";

/**
 * Buys something for an account with this endpoint; the function that is returned enqueues its webhook, as the stream
 * does.
 */
export const aWebhookChange = async (service: TestService, url: string): Promise<() => Promise<unknown>> => {
  const { key, accountId } = await service.newCaller();
  const rules = { allowed: parseIpRanges("127.0.0.0/8"), refusedHosts: [], resolve: systemResolve };
  await setEndpoint(service.endpoints, rules, accountId, url);
  const { reference } = transactionOf(await service.call("POST", BUY_DATA, { key, body: anOrder() }));
  const transaction = await readTransaction(service.ledger, pkOfReference(reference) ?? "");
  const change = {
    OldImage: marshall({ ...transaction, status: "processing" }),
    NewImage: marshall({ ...transaction }),
  };
  const invoke = await loadFunctions(["enqueue-webhooks"], new URL("../../../functions/", import.meta.url));
  return () => invoke("enqueue-webhooks", { Records: [{ dynamodb: { SequenceNumber: "1".repeat(40), ...change } }] });
};
