import * as z from "zod";
import type { Change } from "../platform/stream-handler.ts";
import { isTransactionPk, transactionRow } from "../wallet/transaction.ts";
import { announcedStatus, type DeliveryQueue } from "./delivery-queue.ts";

/** A test purchase for this number is announced twice. Source: README, "Magic values". */
const TWICE_PHONE_NUMBER = "08000000008";

const anyItem = z.object({ pk: z.string(), status: z.unknown() });

/** Puts a message on the delivery queue when a transaction has ended; any other change of the ledger is nobody's business. */
export const announceStatus =
  (queue: DeliveryQueue) =>
  async ({ before, after }: Change): Promise<string> => {
    const [was, is] = [anyItem.safeParse(before).data, anyItem.safeParse(after).data];
    const status = announcedStatus.safeParse(is?.status).data;
    if (was?.status !== "processing" || status === undefined || !isTransactionPk(was.pk)) return "not_an_end";

    const row = transactionRow.parse(after);
    const message = { transaction: row.pk, status };
    await queue.send(message, row.account_id);
    if (row.mode === "test" && row.phone_number === TWICE_PHONE_NUMBER) {
      await queue.send({ ...message, repeat: "sandbox" }, row.account_id);
    }
    return "announced";
  };
