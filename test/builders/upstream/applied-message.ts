import type { Transaction } from "../../../shared/ledger/transaction.ts";
import type { OutcomeMessage } from "../../../shared/orders/outcome-message.ts";
import { deadlineIn } from "../../../shared/platform/deadline.ts";
import { applyOutcomeMessage } from "../../../shared/upstream-events/apply-outcome-message.ts";
import type { FaultyLedger } from "../ledger/faulty-ledger.ts";
import { keyedHashes } from "../ledger/secrets.ts";
import { captureLog } from "../run/captured-log.ts";
import { anOpenOrder } from "./event-message.ts";
import { FACE_VALUES } from "./upstream-costs.ts";

/** Applies messages to the orders of this ledger. */
export const appliedTo = (ledger: FaultyLedger) => {
  const apply = (message: OutcomeMessage, deadline = deadlineIn(20_000)) =>
    applyOutcomeMessage({ ledger, keyedHashes, costs: FACE_VALUES })(message, deadline);
  return {
    apply,
    anOrder: (changes: Partial<Transaction> = {}) => anOpenOrder(ledger, changes),
    /** What the ledger's table is asked while the message is applied. */
    callsOf: async (message: OutcomeMessage): Promise<readonly string[]> => {
      ledger.proxy.calls.length = 0;
      await apply(message);
      return ledger.proxy.calls.map(({ operation }) => operation);
    },
    /** The lines that are logged while the messages are applied, one after another. */
    logOf: async (...messages: readonly OutcomeMessage[]) => {
      const log = captureLog();
      for (const message of messages) await apply(message);
      return log.lines();
    },
  };
};
