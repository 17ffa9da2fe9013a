import * as z from "zod";

/** GET /wallet: the account's one wallet, whichever key asks. Amounts are NGN; the threshold is null while none is set. */
export const walletResult = z.object({
  wallet: z.object({
    currency: z.literal("NGN"),
    balance: z.number(),
    low_balance_threshold: z.number().nullable(),
    updated_at: z.iso.datetime(),
  }),
});
