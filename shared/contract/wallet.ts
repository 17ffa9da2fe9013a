import * as z from "#zod";
import { components } from "./components.ts";
import { amountField, updatedAtField } from "./fields.ts";

/** GET /wallet: the account's one wallet, for live and test keys. Source: docs/interface.md 13.2. */
export const walletResult = z
  .object({
    wallet: z.object({
      currency: z.literal("NGN"),
      balance: amountField,
      low_balance_threshold: z.nullable(z.number()).register(z.globalRegistry, {
        description: "NGN. Balances below this value count as low. Set for the account; null if it is not set.",
      }),
      updated_at: updatedAtField,
    }),
  })
  .register(components, { id: "Wallet" });
