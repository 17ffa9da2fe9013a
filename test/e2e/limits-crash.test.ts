import { afterAll, beforeAll, expect, test } from "vitest";
import { createAccount, createKey, setAccountLimits, setKeyLimits } from "../../shared/access/accounts.ts";
import { koboFromNaira } from "../../shared/contract/money.ts";
import { readTransactions } from "../../shared/ledger/find-transactions.ts";
import { fundWallet } from "../../shared/ledger/ledger-entry.ts";
import { listKeys } from "../../shared/ledger/query-index.ts";
import { transactionList } from "../../shared/ledger/schema.ts";
import { readKeyUsages } from "../../shared/ledger/usage.ts";
import { readWallet } from "../../shared/ledger/wallet.ts";
import { type KillableService, startKillableService } from "../../tools/conformance/killable-service.ts";
import { temporaryFolder } from "../builders/cleanups.ts";
import { anOrder, BUY_DATA, ORDER_NAIRA } from "../builders/service.ts";
import { wrongUsage } from "../builders/usage.ts";

/**
 * Goal: 100 parallel orders and a kill of the service pass no limit, and counters are what was ordered and not refunded.
 * Method: `npm start` is killed with SIGKILL while it serves them; what got no answer is sent again.
 */
let service: KillableService;
beforeAll(async () => {
  service = await startKillableService(temporaryFolder());
});
afterAll(() => service.stop());

const ORDERS = 100;
const KEYS = 8;
const LIMIT_NAIRA = 30 * ORDER_NAIRA;
const KEY_ORDERS = 5;
/** How many answers come before the kill. */
const ANSWERS = 15;
/** The upstream refuses an order for this number, and it is refunded. */
const REFUSED = "08000000005";

test("100 parallel orders pass neither a day's limit of the account nor one of a key when the service is killed, and refunds are given back", async () => {
  const { accounts, ledger } = await service.admin();
  const { account_id: accountId } = await createAccount(accounts, { name: "limited", whitelist: ["127.0.0.1"] });
  await fundWallet(ledger, { accountId, fundingId: "limits", amountKobo: koboFromNaira(100 * ORDER_NAIRA) });
  await setAccountLimits(accounts, accountId, { day_naira: LIMIT_NAIRA });
  const keys: Awaited<ReturnType<typeof createKey>>[] = [];
  for (let index = 0; index < KEYS; index += 1) keys.push(await createKey(accounts, accountId, { mode: "live" }));
  const keyId = keys[0]?.keyId ?? "";
  await setKeyLimits(accounts, accountId, keyId, { day_orders: KEY_ORDERS });

  const codes = new Map<number, string>();
  const send = async (index: number): Promise<void> => {
    const reference = `order-${index}`;
    const body = anOrder({ reference, ...(index % 4 === 0 && { phone_number: REFUSED }) });
    try {
      const answer = await fetch(`${service.baseUrl}${BUY_DATA}`, {
        method: "POST",
        headers: { authorization: `Bearer ${keys[index % KEYS]?.key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const code = answer.headers.get("x-error-code");
      // Without a code, an error leaves the outcome open.
      if (answer.ok || code !== null) codes.set(index, code ?? "placed");
    } catch {
      // The service was killed.
    }
  };
  const unanswered = () => Array.from({ length: ORDERS }, (_, index) => index).filter((index) => !codes.has(index));
  // By itself, because a kill may come before the refund of each other one.
  await send(0);
  expect(codes.get(0)).toBe("delivery_failed");
  const sent = Promise.all(unanswered().map(send));
  await expect.poll(() => codes.size, { timeout: 60_000, interval: 1 }).toBeGreaterThanOrEqual(ANSWERS);
  await service.kill();
  await sent;
  expect(unanswered().length, "the kill came before all were answered").toBeGreaterThan(0);
  await service.start();
  for (let round = 0; unanswered().length > 0 && round < 10; round += 1) await Promise.all(unanswered().map(send));
  expect(unanswered()).toEqual([]);

  const { ledger: restarted } = await service.admin();
  const range = { from: "0000", to: "9999" };
  const listed = await listKeys(restarted, transactionList(accountId, "live"), range);
  const transactions = await readTransactions(restarted, listed);
  expect(await wrongUsage(restarted, accountId, transactions)).toEqual([]);
  const wallet = await readWallet(restarted, accountId);
  expect(wallet.day_kobo).toBeLessThanOrEqual(LIMIT_NAIRA * 100);
  const [keyUsage] = await readKeyUsages(restarted, [keyId]);
  expect(keyUsage?.day_orders).toBeLessThanOrEqual(KEY_ORDERS);
  const charged = transactions.filter(({ status }) => status !== "failed");
  expect(wallet.balance_kobo).toBe((100 - charged.length) * ORDER_NAIRA * 100);
  for (const code of ["placed", "limit_reached"]) expect([...codes.values()]).toContain(code);
});
