import { randomUUID } from "node:crypto";
import type { Call } from "../call/call.ts";
import { invalid } from "../call/invalid.ts";
import { OutcomeUnknown } from "../contract/errors.ts";
import { headers } from "../contract/headers.ts";
import type { CancelRequest } from "../contract/transaction.ts";
import { koboFromNaira } from "../contract/values/money.ts";
import { type AccountMode, findOwn, readTransaction } from "../ledger/find-transactions.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { transactionList, transactionPk } from "../ledger/schema.ts";
import { referenceOf, type Transaction, transactionToView } from "../ledger/transaction.ts";
import { voidDebit } from "../ledger/void-debit.ts";
import { isoTime } from "../platform/time.ts";
import type { OrderDeps } from "./order.ts";
import { refusalByGate } from "./purchases-switch.ts";

/**
 * POST /transactions/cancel. Puts a `failed` transaction under the caller's reference if there is none, by the write
 * that voids a debit: no copy of the order can be placed from then on, however late it arrives.
 */
export const cancelOrder =
  ({ ledger, keyedHashes, gate }: Pick<OrderDeps, "ledger" | "keyedHashes" | "gate">) =>
  async ({ input, caller, deadline }: Pick<Call<CancelRequest>, "input" | "caller" | "deadline">) => {
    // A ledger that is being restored may lack the order.
    const refusal = await refusalByGate(gate);
    if (refusal !== undefined) throw refusal;

    const { reference, type } = input;
    const hashes = await keyedHashes();
    const now = isoTime(ledger.clock());
    const cancelled: Transaction = {
      pk: transactionPk(hashes.transactionId({ ...caller, callerReference: reference })),
      list_key: transactionList(caller.accountId, caller.mode),
      account_id: caller.accountId,
      key_id: caller.keyId,
      mode: caller.mode,
      type,
      status: "failed",
      failure: { code: "order_cancelled" },
      debit: "cancelled",
      write_token: randomUUID(),
      fingerprint: "",
      caller_reference: reference,
      amount_kobo: koboFromNaira(0),
      description: "Cancelled before it was placed",
      created_at: now,
      updated_at: now,
    };
    if (await isServiceReference(ledger, caller, cancelled)) throw invalid({ reference: [SERVICE_REFERENCE] });
    const result = await voidDebit(ledger, cancelled, deadline);
    if (result.kind === "indeterminate") throw new OutcomeUnknown("The write of a cancelled order is indeterminate");
    const { transaction } = result;
    // Of two copies of the write, the second one finds the first.
    const isReplayed = transaction.write_token !== cancelled.write_token;
    return {
      message: transaction.debit === "cancelled" ? "The order is cancelled" : "An order already has the reference",
      data: { transaction: transactionToView(transaction) },
      headers: {
        [headers.transactionReference]: referenceOf(transaction),
        ...(isReplayed && { [headers.idempotentReplayed]: "true" }),
      },
    };
  };

const SERVICE_REFERENCE = "Is the service's own reference of an order: send the reference that was sent with the order";

/**
 * Lookups take the service's reference too. Here it would be recorded as another order, and `failed` would be taken for
 * the end of the one that has it.
 */
const isServiceReference = async (
  ledger: Ledger,
  caller: AccountMode,
  { pk, caller_reference = "" }: Transaction,
): Promise<boolean> =>
  (await findOwn(ledger, caller, caller_reference)) !== undefined && (await readTransaction(ledger, pk)) === undefined;
