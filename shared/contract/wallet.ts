import * as z from "zod";

/** GET /wallet: the account's one wallet, for live and test keys. Source: docs/interface.md 13.2. */
export const walletResult = z.object({
  wallet: z.object({
    currency: z.literal("NGN"),
    balance: z.number(),
    low_balance_threshold: z.number().nullable(),
    updated_at: z.iso.datetime(),
  }),
});
