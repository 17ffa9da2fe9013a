import { isDeepStrictEqual } from "node:util";
import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import type { AuditEntry, AuditPut } from "../../../shared/ledger/audit.ts";
import { type Checkpoint, readCheckpoint } from "../../../shared/ledger/checkpoint.ts";
import { getItemsByPk } from "../../../shared/ledger/get-item.ts";
import type { Ledger } from "../../../shared/ledger/ledger.ts";
import { walletPk } from "../../../shared/ledger/schema.ts";
import { transactWithRetry } from "../../../shared/ledger/transact.ts";
import { type Wallet, walletSchema } from "../../../shared/ledger/wallet.ts";
import { type WalletState, walletCorrection } from "../../../shared/ledger/wallet-correction.ts";
import type { WithSdk } from "../../../shared/platform/aws/sdk.ts";
import { queuedNumbers, queueOf } from "../../../shared/queued-orders/order-queue.ts";
import { type Item, scanTable } from "../table-scan.ts";
import { type BalanceChange, balanceChangeOf, balanceChangeProjection } from "./balance-change.ts";

export type WalletResult = {
  readonly account_id: string;
  readonly result: "right" | "corrected" | "negative" | "changed_meanwhile" | "no_wallet";
  readonly before_kobo: number | undefined;
  readonly after_kobo: number;
};

type Sums = {
  /** The sum of all changes of wallets. */
  total_kobo: number;
  /** How many lines they are: a closed month relies on the wallet's count of them. */
  versions: number;
  /** The sum of the changes that the account's checkpoint covers. */
  covered_kobo: number;
  hasCoveredOpen: boolean;
  /** The numbers of the orders in its queue. */
  readonly queued: Set<number>;
};
const noItems = (): Sums => ({ total_kobo: 0, versions: 0, covered_kobo: 0, hasCoveredOpen: false, queued: new Set() });

/**
 * Recomputes every balance: fundings and adjustments, minus transactions that are not `failed`; the number of lines;
 * and the queue of queued orders. Reads the table itself with strong reads, because its indexes lag behind the items just copied.
 */
export const recomputeWallets = async (
  ledger: Ledger & WithSdk,
  accountIds: ReadonlySet<string>,
  options: {
    /** The audit entry of a corrected balance; absent in a dry run. */
    readonly audit?: (accountId: string, details: AuditEntry["details"]) => AuditPut;
    /** In a dry run, the balance changes of the items that would be copied. */
    readonly plannedChanges: ReadonlyMap<string, number>;
    readonly logProgress: (message: string) => void;
    /** Called with each item of the table. */
    readonly onItem?: (item: Item) => void;
  },
): Promise<readonly WalletResult[]> => {
  // Read before the scan: any later change of a balance raises the wallet's version and fails its correction.
  const wallets = await getItemsByPk(ledger, [...accountIds].map(walletPk), walletSchema);
  const checkpoints = new Map<string, Checkpoint>();
  for (const accountId of accountIds) checkpoints.set(accountId, await readCheckpoint(ledger, accountId));
  const sums = new Map<string, Sums>();
  await scanTable(ledger.db, ledger.table, {
    onPage: async (items) => {
      for (const item of items) {
        options.onItem?.(item);
        const change = balanceChangeOf(item);
        if (change !== undefined) add(sums, change, checkpoints.get(change.accountId));
      }
    },
    logProgress: options.logProgress,
    projection: balanceChangeProjection,
  });

  const results: WalletResult[] = [];
  for (const account_id of new Set([...accountIds, ...sums.keys(), ...options.plannedChanges.keys()])) {
    const sum = sums.get(account_id) ?? noItems();
    const afterKobo = sum.total_kobo + (options.audit ? 0 : (options.plannedChanges.get(account_id) ?? 0));
    const wallet = wallets.get(walletPk(account_id));
    const known = { account_id, before_kobo: wallet?.balance_kobo, after_kobo: afterKobo };
    // In a dry run a new account's wallet has not been copied yet.
    if (wallet === undefined) {
      const willBeCopied = options.audit === undefined && accountIds.has(account_id);
      results.push({ ...known, result: willBeCopied ? "corrected" : "no_wallet" });
    } else if (afterKobo < 0) {
      results.push({ ...known, result: "negative" });
    } else {
      const checkpoint = checkpoints.get(account_id);
      const isCheckpointRight = checkpoint?.balance_kobo === sum.covered_kobo && !sum.hasCoveredOpen;
      const result = await correct(
        ledger,
        wallet,
        { balanceKobo: afterKobo, versions: sum.versions, queued: sum.queued },
        isCheckpointRight ? undefined : checkpoint,
        options.audit,
      );
      results.push({ ...known, result });
    }
  }
  return results;
};

const add = (sums: Map<string, Sums>, change: BalanceChange, checkpoint: Checkpoint | undefined): void => {
  const { accountId, at, kobo, versions, isOpen, queuedNumber } = change;
  const sum = sums.get(accountId) ?? noItems();
  sums.set(accountId, sum);
  sum.total_kobo += kobo;
  sum.versions += versions;
  if (queuedNumber !== undefined) sum.queued.add(queuedNumber);
  if (checkpoint === undefined || at > checkpoint.up_to) return;
  sum.covered_kobo += kobo;
  sum.hasCoveredOpen ||= isOpen;
};

/**
 * Corrects the balance, the count of lines and the queue of queued orders if they are wrong, and deletes a checkpoint that the carried
 * items have made wrong.
 */
const correct = async (
  ledger: Ledger,
  wallet: Wallet,
  right: WalletState,
  wrongCheckpoint: Checkpoint | undefined,
  audit: ((accountId: string, details: AuditEntry["details"]) => AuditPut) | undefined,
): Promise<WalletResult["result"]> => {
  const { balanceKobo, versions, queued } = right;
  const isCountRight = wallet.balance_kobo === balanceKobo && wallet.version === versions;
  if (audit === undefined) return isCountRight ? "right" : "corrected";
  const counted = [...queuedNumbers(queueOf(wallet))];
  const isQueueRight = isDeepStrictEqual(new Set(counted), queued);
  const isRight = isCountRight && isQueueRight;
  if (isRight && wrongCheckpoint === undefined) return "right";
  const { db, table } = ledger;
  const details = {
    before_kobo: wallet.balance_kobo,
    after_kobo: balanceKobo,
    ...(wallet.version !== versions && { before_version: wallet.version, after_version: versions }),
    ...(!isQueueRight && { before_queued_orders: counted.length, after_queued_orders: queued.size }),
  };
  try {
    await transactWithRetry({ db }, [
      walletCorrection(ledger, wallet, right),
      ...(wrongCheckpoint ? [{ Delete: { TableName: table, Key: { pk: wrongCheckpoint.pk } } }] : []),
      ...(isRight ? [] : [audit(wallet.account_id, details)]),
    ]);
    return isRight ? "right" : "corrected";
  } catch (error) {
    if (error instanceof TransactionCanceledException) return "changed_meanwhile";
    throw error;
  }
};
