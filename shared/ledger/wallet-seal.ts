import * as z from "#zod";
import { lazyObject } from "../contract/lazy-object.ts";
import { isConditionFailure } from "../platform/aws/errors.ts";
import { retryContention } from "../platform/backoff.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { EPOCH, isoTime } from "../platform/time.ts";
import type { Ledger, Table } from "./ledger.ts";
import { type Wallet, walletSchema, walletUpdate } from "./wallet.ts";

/** What a wallet holds of everything that is dated until its seal. */
const sealedWalletSchema = lazyObject(() => {
  const { balance_kobo, version } = walletSchema.shape;
  return { balance_kobo, version, sealed_to: z.string() };
});
export type SealedWallet = z.infer<typeof sealedWalletSchema>;

/** Whether a wallet refused a booking because of its seal. */
export const isSealedAt = <Sealed extends Pick<Wallet, "sealed_to">>(
  wallet: Sealed | undefined,
  bookedAt: string,
): wallet is Sealed & { readonly sealed_to: string } => wallet?.sealed_to !== undefined && wallet.sealed_to >= bookedAt;

/** When a line is booked: now, but always after the seal that refused it, because a clock may be slow. */
export const bookingTime = ({ clock }: Pick<Ledger, "clock">, sealedTo: string = EPOCH): string =>
  isoTime(Math.max(clock(), Date.parse(sealedTo) + 1));

/**
 * Makes what is dated until `to` final, and resolves with the wallet as this write leaves it. Undefined: the wallet is
 * sealed until then or later, and stays as it is.
 */
export const sealWallet = async (
  { db, table }: Table,
  accountId: string,
  to: string,
): Promise<SealedWallet | undefined> => {
  const { Update } = walletUpdate({ table }, accountId, {
    sets: ["sealed_to = :to"],
    conditions: ["attribute_exists(pk) AND (attribute_not_exists(sealed_to) OR sealed_to < :to)"],
    values: { ":to": to },
  });
  try {
    const { Attributes } = await retryContention(() => db.update({ ...Update, ReturnValues: "ALL_NEW" }));
    return sealedWalletSchema.parse(Attributes);
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    if (error.Item === undefined) throw new OperatorError(`${accountId} has no wallet`, { cause: error });
    return undefined;
  }
};
