import { randomUUID } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { deadlineIn } from "../../shared/platform/deadline.ts";
import { koboFromNaira } from "../../shared/platform/money.ts";
import { sleep } from "../../shared/platform/time.ts";
import type { Ledger } from "../../shared/wallet/ledger.ts";
import { type Opening, openTransaction } from "../../shared/wallet/open.ts";
import { transactionPk } from "../../shared/wallet/transaction.ts";
import { emptyWallet, readWallet } from "../../shared/wallet/wallet.ts";
import { type StrictSettings, strictSettings } from "../strict/settings.ts";
import { startDynamoDbProxy } from "./dynamodb-proxy.ts";
import { emulatorClientAt } from "./emulator-client.ts";
import { capacityOf } from "./observe.ts";
import { freshTables } from "./tables.ts";
import { aTransactionRow } from "./transaction-row.ts";

/** Transactions hold their items for so long, and nothing else happens. */
export const holding = (hold_ms: number, changes: Partial<StrictSettings> = {}): StrictSettings => ({
  ...strictSettings["conflicts, tokens bound"],
  holdMs: { min: hold_ms, max: hold_ms },
  foreignHolds: 0,
  ...changes,
});

export type Contention = {
  readonly debits: number;
  /** They begin at random moments of this time. */
  readonly within_ms: number;
  readonly hold_ms: number;
};
export type Contended = {
  readonly outcomes: readonly Opening["kind"][];
  readonly waits_ms: readonly number[];
  readonly cancelled: number;
  /** Write units of what was written, on the table and its indexes. */
  readonly writtenUnits: number;
  /** In kobo: what the wallet lost, which has to be the price of each opened order. */
  readonly taken: number;
};

/** What AWS charges at most for a cancelled purchase: two items of up to 1 KB, each prepared and committed. */
export const CANCELLED_UNITS = 4;
export const PRICE_KOBO = koboFromNaira(500);

/** Sockets of one client; each function has its own, and so they must not wait for each other here. */
const DEBITS_PER_CLIENT = 20;
const FUNCTION_MS = 29_000;

/** Debits of one wallet at the same time, each as a function of its own would make it. */
export const contend = async (
  emulator: string,
  { debits, within_ms, hold_ms }: Contention,
  seed: number,
): Promise<Contended> => {
  const direct = emulatorClientAt(emulator);
  const { ledgerTable: table } = await freshTables(direct);
  const accountId = `acc_${randomUUID()}`;
  const funds = koboFromNaira(500 * (debits + 1));
  const Item = { ...emptyWallet(accountId, Date.now()), balance_kobo: funds };
  await direct.send(new PutCommand({ TableName: table, Item }));
  const proxy = await startDynamoDbProxy(emulator);
  const strict = proxy.beStrict(holding(hold_ms), seed);
  const clients = Array.from({ length: Math.ceil(debits / DEBITS_PER_CLIENT) }, () => emulatorClientAt(proxy.endpoint));
  const clock = Date.now;

  const results = await Promise.all(
    Array.from({ length: debits }, async (_, index) => {
      const db = clients[Math.floor(index / DEBITS_PER_CLIENT)] ?? direct;
      await sleep((within_ms * index) / debits);
      const row = aTransactionRow({
        pk: transactionPk(randomUUID()),
        account_id: accountId,
        owner: `${accountId}#live`,
        attempt: randomUUID(),
        amount_kobo: PRICE_KOBO,
      });
      const begun_ms = performance.now();
      const { kind } = await openTransaction({ db, table, clock }, row, [], deadlineIn(FUNCTION_MS));
      return { kind, wait_ms: performance.now() - begun_ms };
    }),
  );
  const ledger: Ledger = { db: direct, table, clock };
  const { tableWriteUnits, indexWriteUnits } = capacityOf(proxy.calls);
  const { balance_kobo } = await readWallet(ledger, accountId);
  await proxy.stop();
  for (const client of [...clients, direct]) client.destroy();
  return {
    outcomes: results.map(({ kind }) => kind),
    waits_ms: results.map(({ wait_ms }) => wait_ms),
    cancelled: strict.counts.conflict,
    writtenUnits: tableWriteUnits + indexWriteUnits,
    taken: funds - balance_kobo,
  };
};
