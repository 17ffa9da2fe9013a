import { OperatorError } from "../../shared/platform/operator-error.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { sleep } from "../../shared/platform/time.ts";
import { findByUpstreamReference } from "../../shared/status/open-transactions.ts";
import { underWay_ms } from "../../shared/status/resolve.ts";
import { findByCallerReference, readTransaction } from "../../shared/wallet/lookup.ts";
import { namingFrom } from "../../shared/wallet/naming.ts";
import { pkOfReference, referenceOf, type TransactionRow, transactionToView } from "../../shared/wallet/transaction.ts";
import type { Desk } from "./desk.ts";
import { duration, naira, table } from "./print.ts";

/** The transaction with this reference: ours, with its account the caller's own, or the upstream's. */
export const requireTransaction = async (
  desk: Desk,
  reference: string,
  account?: string | undefined,
): Promise<TransactionRow> => {
  const pk = pkOfReference(reference);
  const ours = pk && (await readTransaction(desk.ledger, pk));
  if (ours && referenceOf(ours) === reference) return ours;
  const theirs = account === undefined ? undefined : await byCallerReference(desk, account, reference);
  if (theirs !== undefined) return theirs;
  const [named, ...others] = await findByUpstreamReference(desk.ledger, reference);
  const upstreams = named && others.length === 0 ? await readTransaction(desk.ledger, named.pk) : undefined;
  if (upstreams !== undefined && (account === undefined || upstreams.account_id === account)) return upstreams;
  const hint = account === undefined ? ": an app's own reference needs --account" : ` of account ${account}`;
  throw new OperatorError(`There is no transaction ${reference}${hint}`);
};

/** The same for a decision: once its request is certainly over, as it stands then. */
export const requireDecidable = async (desk: Desk, reference: string): Promise<TransactionRow> => {
  const row = await requireTransaction(desk, reference);
  const wait_ms = row.status === "processing" ? underWay_ms(row, desk.ledger.clock()) : 0;
  if (wait_ms === 0) return row;
  process.stderr.write(`The request of ${reference} may still be under way: waiting ${duration(wait_ms)} ...\n`);
  await sleep(wait_ms);
  return requireTransaction(desk, reference);
};

const byCallerReference = async (
  { ledger, secrets, target }: Desk,
  accountId: string,
  reference: string,
): Promise<TransactionRow | undefined> => {
  const naming = await namingFrom(secret(secrets, target.environment.REFERENCE_KEY_SECRET_ID))();
  for (const mode of ["live", "test"] as const) {
    const row = await findByCallerReference(ledger, naming, { accountId, mode }, reference);
    if (row !== undefined) return row;
  }
  return undefined;
};

export const transactionJson = (row: TransactionRow) => ({
  account_id: row.account_id,
  mode: row.mode,
  ...transactionToView(row),
  upstream_reference: row.upstream_reference ?? null,
});

export const transactionsTable = (rows: readonly TransactionRow[], now_ms: number): string =>
  table(
    ["reference", "account", "type", "status", "amount", "phone number", "upstream", "age"],
    rows.map((row) => [
      referenceOf(row),
      row.account_id,
      row.type,
      row.status,
      naira(row.amount_kobo),
      row.phone_number,
      row.upstream_reference,
      duration(now_ms - Date.parse(row.created_at)),
    ]),
  );
