import type { Deadline } from "../platform/deadline.ts";
import { errorFields, type LogFields, log, putMetrics } from "../platform/log.ts";
import { isoTime } from "../platform/time.ts";
import { readCheckpoint } from "../wallet/checkpoint.ts";
import { ownedKeys } from "../wallet/index-pages.ts";
import type { Ledger } from "../wallet/ledger.ts";
import { keepProof, proveWallet } from "../wallet/proof.ts";
import { settleTransaction } from "../wallet/settle.ts";
import { isCheck, type TransactionRow } from "../wallet/transaction.ts";
import { openTransactions } from "./open-transactions.ts";

/** A live purchase that is open for longer is stuck: somebody should look. */
const STUCK_MS = 15 * 60_000;
/** An identity check has no result to wait for: a request that died between debit and answer is refunded. */
const CHECK_OPEN_MS_MAX = 5 * 60_000;
const PROOF_EVERY_MS = 24 * 3_600_000;
/** No proof begins when no more than this is left: that of a large and busy wallet takes a while. */
const PROOF_RESERVE_MS = 60_000;

/** Measures what is open, refunds checks that nobody will answer any more, and proves the wallets that are due. */
export const watchLedger = async (ledger: Ledger, deadline: Deadline): Promise<LogFields> => {
  const now_ms = ledger.clock();
  const open = await openTransactions(ledger, { from: "0000", to: isoTime(now_ms) });
  const age_ms = ({ created_at }: TransactionRow): number => now_ms - Date.parse(created_at);
  const oldest_s = (rows: readonly TransactionRow[]): number =>
    rows.reduce((oldest, row) => Math.max(oldest, Math.floor(age_ms(row) / 1_000)), 0);

  const abandoned = open.filter((row) => isCheck(row) && age_ms(row) > CHECK_OPEN_MS_MAX);
  const refunded = await refundAll(ledger, abandoned, deadline);
  const mismatches = await proveDue(ledger, deadline);
  putMetrics(
    {
      OldestOpenSeconds: oldest_s(open),
      StuckTransactions: open.filter((row) => age_ms(row) > STUCK_MS).length,
      OldestUnrefundedSeconds: oldest_s(abandoned),
      LedgerMismatches: mismatches,
    },
    now_ms,
  );
  return { open: open.length, refunded, mismatches };
};

const refundAll = async (ledger: Ledger, rows: readonly TransactionRow[], deadline: Deadline): Promise<number> => {
  let refunded = 0;
  for (const row of rows) {
    const verdict = { status: "failed", failure: { code: "provider_timeout" } } as const;
    const settlement = await settleTransaction(ledger, row, verdict, deadline);
    if (settlement.kind === "applied") refunded += 1;
    if (settlement.kind === "not_known") break;
  }
  return refunded;
};

/** The accounts' own owner in the index by time. */
const ACCOUNTS_OWNER = "accounts";

/** How many wallets differ from what their entries say, by two proofs in a row that say the same. */
const proveDue = async (ledger: Ledger, deadline: Deadline): Promise<number> => {
  const accounts = await ownedKeys(ledger, ACCOUNTS_OWNER, { from: "0000", to: "9999" });
  let mismatches = 0;
  for (const { pk } of accounts) {
    if (deadline.remaining_ms() < PROOF_RESERVE_MS) break;
    try {
      if (await isProvedWrong(ledger, pk.slice("account#".length))) mismatches += 1;
    } catch (error) {
      log.alarm("ledger.not_proved", { account: pk, ...errorFields(error) });
    }
  }
  return mismatches;
};

const isProvedWrong = async (ledger: Ledger, accountId: string): Promise<boolean> => {
  const before = await readCheckpoint(ledger, accountId);
  const isDue = ledger.clock() - Date.parse(before.proved_at) >= PROOF_EVERY_MS;
  // A difference is looked at again in the next run, and not only tomorrow.
  if (!isDue && before.difference_kobo === 0) return false;
  const proof = await proveWallet(ledger, accountId);
  if (proof === undefined) return false;
  await keepProof(ledger, accountId, proof);
  const isWrong = proof.difference_kobo !== 0 && proof.difference_kobo === before.difference_kobo;
  if (isWrong) log.error("ledger.mismatch", { account: accountId, difference_kobo: proof.difference_kobo });
  return isWrong;
};
