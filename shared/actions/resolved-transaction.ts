import type { ActionName } from "../contract/actions/actions.ts";
import { nairaFromKobo } from "../contract/values/money.ts";
import { type Actor, type AuditEntry, actorName, readTransactionAudit } from "../ledger/audit.ts";
import { readTransaction } from "../ledger/find-transactions.ts";
import { referenceOf, type Transaction } from "../ledger/transaction.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { correctionOf } from "../upstream-events/operator-resolution.ts";
import { type ActionContext, requireRequest } from "./action-context.ts";

/** The actions that settle a transaction by an operator's decision, and what each of them records of it. */
const ACTIONS: readonly string[] = ["transactions resolve", "events match"] satisfies readonly ActionName[];
type Resolution = { readonly status: string } | { readonly event: string };

/** Settles a transaction; resolves with its view. Who has settled it so before may have lost the answer, and gets it again. */
export const settledView = async (
  context: ActionContext,
  before: Transaction,
  resolution: Resolution,
  settle: () => Promise<unknown>,
) => {
  try {
    await settle();
  } catch (error) {
    const found = await resolvedBefore(context, before);
    if (found === undefined) throw error;
    if (!isRepetition(context.actor(), resolution, found.entry)) throw resolvedError(found);
  }
  const transaction = (await readTransaction(context.ledger, before.pk)) ?? before;
  const { account_id, status, mode } = transaction;
  const amount = nairaFromKobo(transaction.amount_kobo);
  return {
    reference: referenceOf(transaction),
    account_id,
    status,
    amount,
    refunded: status === "failed" && mode === "live" ? amount : 0,
  };
};

/** Whether the person who asks has settled the transaction so before. */
export const isSettledSo = async (
  context: ActionContext,
  transaction: Transaction,
  resolution: Resolution,
): Promise<boolean> => {
  const found = await resolvedBefore(context, transaction);
  return found !== undefined && isRepetition(requireRequest(context).actor, resolution, found.entry);
};

type Resolved = { readonly transaction: Transaction; readonly entry: AuditEntry };

/** The decision that settled the transaction; undefined if no operator did. */
const resolvedBefore = async ({ ledger }: ActionContext, { pk }: Transaction): Promise<Resolved | undefined> => {
  const transaction = await readTransaction(ledger, pk);
  if (transaction?.resolved_by !== "operator") return undefined;
  const entries = await readTransactionAudit(ledger, transaction);
  const entry = entries.findLast(({ action }) => ACTIONS.includes(action));
  return entry && { transaction, entry };
};

const isRepetition = (actor: Actor, resolution: Resolution, entry: AuditEntry): boolean =>
  Object.entries(resolution).every(([name, value]) => entry.details[name] === value) &&
  actorName(entry) === actorName(actor);

const resolvedError = ({ transaction, entry }: Resolved): OperatorError => {
  const { status, updated_at } = transaction;
  const sentence = `${referenceOf(transaction)} was settled as ${status} at ${updated_at}; that is final: ${actorName(entry)} resolved it ("${entry.why ?? ""}")`;
  return new OperatorError(sentence, { command: correctionOf(transaction) });
};
