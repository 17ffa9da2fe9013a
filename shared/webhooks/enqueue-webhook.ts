import * as z from "zod";
import type { Change } from "../lambda/stream-handler.ts";
import { isTransactionPk } from "../ledger/schema.ts";
import { type DeliveryQueue, finalStatus } from "./delivery-queue.ts";

/** A test purchase for this number is announced twice. Source: README, "Magic values". */
const TWICE_PHONE_NUMBER = "08000000008";

const anyItem = z.object({ pk: z.string(), status: z.unknown() });

/**
 * What a message needs of a transaction, and no more: a change that cannot be read would hold the stream up for as long as it is
 * kept. What else is wrong with an item is found when the message is handled, which holds nothing else up and has dead letters.
 */
const ending = z.object({
  account_id: z.string().catch("unknown"),
  mode: z.string().optional().catch(undefined),
  phone_number: z.string().optional().catch(undefined),
});

/** Puts a message on the delivery queue when a transaction has ended; ignores all other changes of the ledger. */
export const enqueueWebhook =
  (queue: DeliveryQueue) =>
  async ({ before, after }: Change): Promise<string> => {
    const [was, is] = [anyItem.safeParse(before).data, anyItem.safeParse(after).data];
    const status = finalStatus.safeParse(is?.status).data;
    if (was?.status !== "processing" || is === undefined || status === undefined || !isTransactionPk(is.pk)) {
      return "not_an_end";
    }

    const { account_id, mode, phone_number } = ending.parse(after);
    const message = { transaction: is.pk, status };
    await queue.send(message, account_id);
    if (mode === "test" && phone_number === TWICE_PHONE_NUMBER) {
      await queue.send({ ...message, repeat: "sandbox" }, account_id);
    }
    return "announced";
  };
