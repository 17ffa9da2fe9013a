import type { Deadline } from "../platform/deadline.ts";
import { log } from "../platform/log.ts";
import type { MessageResult } from "../platform/queue-handler.ts";
import type { Ledger } from "../wallet/ledger.ts";
import { readTransaction } from "../wallet/lookup.ts";
import { settleTransaction } from "../wallet/settle.ts";
import { transitions } from "../wallet/transaction.ts";
import type { StatusMessage } from "./status-queue.ts";

/** Applies one message by one conditional write. A duplicate, or a verdict on what has ended, changes nothing. */
export const applyStatus =
  (ledger: Ledger) =>
  async (message: StatusMessage, deadline: Deadline): Promise<MessageResult> => {
    const row = await readTransaction(ledger, message.transaction);
    // Never written, or written by another request: the verdict speaks of something that does not exist.
    if (row === undefined || row.attempt !== message.attempt || row.mode !== message.mode) {
      return { kind: "done", outcome: "no_such_attempt" };
    }
    if (transitions[row.status].length === 0) return { kind: "done", outcome: contradiction(message, row.status) };
    const settlement = await settleTransaction(ledger, row, message.verdict, deadline);
    if (settlement.kind === "not_known") return { kind: "retry", reason: "write_not_known" };
    if (settlement.kind === "applied") return { kind: "done", outcome: "applied" };
    return { kind: "done", outcome: contradiction(message, settlement.row.status) };
  };

/** A final status stands. What speaks against it is said aloud, for the operator, and not applied. */
const contradiction = ({ transaction, verdict }: StatusMessage, status: string): string => {
  if (verdict.status === "processing" || verdict.status === status) return "duplicate";
  log.error("status.contradicted", { transaction, stands: status, says: verdict.status });
  return "contradiction";
};
