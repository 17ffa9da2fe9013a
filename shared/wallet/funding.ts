import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import type { Kobo } from "../platform/money.ts";
import { isoTime } from "../platform/time.ts";
import { collisionOf, type Ledger, waitForTurn } from "./ledger.ts";
import { walletCredit } from "./wallet.ts";

const FUNDING_ROUNDS_MAX = 8;

/** The owner under which an account's fundings and adjustments stand in the index by time. */
export const entriesOwner = (accountId: string): string => `${accountId}#entries`;

/**
 * Puts money into a wallet once per funding id (the bank's own reference): the funding's item is put in the balance's own
 * transaction, so that a repeat does nothing and says so.
 */
export const fundWallet = async (
  ledger: Ledger,
  funding: { readonly accountId: string; readonly fundingId: string; readonly amountKobo: Kobo },
): Promise<"funded" | "funded_before"> => {
  const item = {
    owner: entriesOwner(funding.accountId),
    pk: `funding#${funding.accountId}#${funding.fundingId}`,
    account_id: funding.accountId,
    funding_id: funding.fundingId,
    amount_kobo: funding.amountKobo,
    created_at: isoTime(ledger.clock()),
  };
  for (let round = 0; ; round += 1) {
    try {
      await ledger.db.send(
        new TransactWriteCommand({
          TransactItems: [
            { Put: { TableName: ledger.table, Item: item, ConditionExpression: "attribute_not_exists(pk)" } },
            walletCredit(ledger, funding.accountId, funding.amountKobo),
          ],
        }),
      );
      return "funded";
    } catch (error) {
      if (isRepeat(error)) return "funded_before";
      if (collisionOf(error).kind !== "conflict" || round === FUNDING_ROUNDS_MAX) throw error;
      await waitForTurn(round);
    }
  }
};

const isRepeat = (error: unknown): boolean =>
  error instanceof TransactionCanceledException && error.CancellationReasons?.[0]?.Code === "ConditionalCheckFailed";
