import * as z from "#zod";
import type { AccountStore } from "../../shared/access/account-store.ts";
import { createAccount, setWhitelist } from "../../shared/access/accounts.ts";
import { createKey } from "../../shared/access/keys.ts";
import { headers } from "../../shared/contract/headers.ts";
import { ALL_ENTITLEMENTS } from "../../shared/contract/permission.ts";
import { koboFromNaira } from "../../shared/contract/values/money.ts";
import type { Ledger } from "../../shared/ledger/ledger.ts";
import { fundWallet } from "../../shared/ledger/ledger-entry.ts";
import type { WithSdk } from "../../shared/platform/aws/sdk.ts";
import { openDynamoDb, openSecretsManager } from "../../shared/platform/aws/sdk.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { sleep, systemClock } from "../../shared/platform/time.ts";
import { causeOf } from "../admin/connection-error.ts";
import type { Stage } from "./context.ts";
import { AcceptanceError } from "./outcome.ts";
import { requestCounts } from "./request-counts.ts";

/** An app with live keys and money in its wallet. */
export type Caller = { readonly accountId: string; readonly keys: readonly string[] };

export const storesOf = ({
  outputs,
}: Stage): { readonly accounts: AccountStore; readonly ledger: Ledger & WithSdk } => {
  const db = openDynamoDb();
  const { AccessTable: accessTable, LedgerTable: ledgerTable, ChecksumKeySecretId } = outputs;
  const checksumKey = secret(openSecretsManager(), ChecksumKeySecretId);
  return {
    accounts: { db, accessTable, ledgerTable, checksumKey },
    ledger: { db, table: ledgerTable, clock: systemClock },
  };
};

/** Creates an app that calls from this address, with this balance in NGN. */
export const newCaller = async (
  stage: Stage,
  { address, naira, keyCount = 1 }: { readonly address: string; readonly naira: number; readonly keyCount?: number },
): Promise<Caller> => {
  const { accounts, ledger } = storesOf(stage);
  const { account_id: accountId } = await createAccount(accounts, {
    name: "acceptance",
    whitelist: [address],
    entitlements: ALL_ENTITLEMENTS,
  });
  const keys: string[] = [];
  for (let count = 0; count < keyCount; count += 1) {
    keys.push((await createKey(accounts, accountId, { mode: "live" })).key);
  }
  await fundWallet(ledger, { accountId, fundingId: crypto.randomUUID(), amountKobo: koboFromNaira(naira) });
  return { accountId, keys };
};

/** The address from which this machine reaches the API, as the service's refusal of an unknown address names it. */
export const ownAddress = async (stage: Stage): Promise<string> => {
  const { accounts } = storesOf(stage);
  const { account_id } = await createAccount(accounts, { name: "address", whitelist: [] });
  const { key } = await createKey(accounts, account_id, { mode: "test" });
  const address = await addressIn(await call(stage, key, "/wallet"));
  await setWhitelist(accounts, account_id, [address]);
  const allowed = await call(stage, key, "/wallet");
  if (allowed.status !== 200)
    throw new AcceptanceError(`A call from the allowed address ${address} was answered ${allowed.status}`);
  return address;
};

/** The address that a refusal for want of a whitelist entry names. Throws if it is another answer. */
export const addressIn = async (response: Response): Promise<string> => {
  const text = await response.text();
  const [, address] = /"The IP address (\S+) is not whitelisted"/.exec(text) ?? [];
  if (address !== undefined) return address;
  throw new AcceptanceError(
    `A call from an unknown address was answered ${response.status} ${text.slice(0, 300)}, and not 403 with that address`,
  );
};

const call = (stage: Stage, key: string, path: string, body?: unknown): Promise<Response> => {
  requestCounts.requests += 1;
  return fetch(`${stage.baseUrl}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
};

const transactionAnswer = z.object({
  data: z.object({
    transaction: z.object({ reference: z.string(), status: z.enum(["success", "processing", "failed"]) }),
  }),
});

/** The transaction of an order; or the error that says that nothing was charged. */
type Ordered =
  | { readonly reference: string; readonly status: "success" | "processing" | "failed" }
  | { readonly code: string };

/** NGN. */
export const AIRTIME_NAIRA = 100;
export const DELIVERED = "08031234567";
export const DELIVERED_LATER = "08000000002";
export const FAILED_LATER = "08000000003";

const ATTEMPTS = 8;

/** Buys airtime as README.md tells callers to: the same reference again until the answer says what happened. */
export const buyAirtime = async (
  stage: Stage,
  key: string,
  order: { readonly reference: string; readonly phoneNumber: string },
): Promise<Ordered> => {
  const body = { network: "mtn", phone_number: order.phoneNumber, amount: AIRTIME_NAIRA, reference: order.reference };
  let last = "";
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const response = await call(stage, key, "/vtu/airtime/purchase", body).catch((error: unknown) => {
      last = `got no answer (${causeOf(error)})`;
      return undefined;
    });
    if (response?.status === 200) return transactionAnswer.parse(await response.json()).data.transaction;
    const code = response?.headers.get(headers.errorCode);
    const retryAfter = response?.headers.get(headers.retryAfter);
    if (code && !retryAfter) return { code };
    if (response) last = `was answered ${response.status} ${code ?? "by API Gateway"}`;
    await sleep(1_000 * Number(retryAfter ?? 2 ** attempt));
  }
  throw new AcceptanceError(
    `The order ${order.reference} ${last}, the last of ${ATTEMPTS} times: read the log of purchase, and the line of doctor below`,
  );
};

/** The queue delivers an event again, if a function that was still starting did not accept it in time. */
const SETTLED_S_MAX = 120;

/** Waits until a transaction has a final status, which an event of the upstream brings. */
export const finalStatus = async (stage: Stage, key: string, reference: string): Promise<string> => {
  for (const untilMs = Date.now() + SETTLED_S_MAX * 1_000; Date.now() < untilMs; ) {
    const response = await call(stage, key, `/transactions/${reference}`);
    const code = response.headers.get(headers.errorCode);
    if (code !== null && response.status < 500 && !response.headers.has(headers.retryAfter))
      throw new AcceptanceError(`A lookup of ${reference} was answered ${response.status} ${code}`);
    const answer = transactionAnswer.safeParse(await response.json());
    const status = answer.data?.data.transaction.status;
    if (status !== undefined && status !== "processing") return status;
    await sleep(1_000);
  }
  throw new AcceptanceError(
    `The transaction ${reference} is still processing after ${SETTLED_S_MAX} s: read the logs of purchase, receive-upstream-event and apply-upstream-event, and the line of doctor below`,
  );
};
