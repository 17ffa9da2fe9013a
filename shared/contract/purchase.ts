import * as z from "#zod";
import { components } from "./components.ts";
import { idField, phoneNumberField, referenceField } from "./fields.ts";
import { AIRTIME_NAIRA_MIN } from "./limits.ts";
import { purchasedTransaction } from "./transaction.ts";
import { nairaField } from "./values/money.ts";
import { withoutOwnNumber } from "./values/own-number.ts";

/** POST /vtu/data/purchase. */
export const dataPurchaseRequest = withoutOwnNumber(
  z.object({
    network_id: idField.check(z.meta({ description: "The `id` of a network in the catalog." })),
    plan_id: idField.check(
      z.meta({ description: "The `id` of a plan in the catalog. The plan must belong to the network." }),
    ),
    phone_number: phoneNumberField,
    expected_price: z.optional(nairaField.check(z.minimum(0, "Must not be negative"))).register(z.globalRegistry, {
      description:
        "The price that the caller knows, in NGN. If the plan has another one, the order is refused with `price_changed` and nothing is charged.",
    }),
    reference: z.optional(referenceField),
  }),
).register(components, { id: "DataPurchaseRequest" });
export type DataPurchaseRequest = z.infer<typeof dataPurchaseRequest>;

/** POST /vtu/airtime/purchase. The networks are those of the catalog (docs/interface.md 11.D1). */
export const airtimePurchaseRequest = withoutOwnNumber(
  z.object({
    network: z
      .string()
      .check(z.trim(), z.toLowerCase())
      .register(z.globalRegistry, {
        description:
          "The `code` of a network in the catalog, not case-sensitive. `etisalat` and `t2` mean `9mobile`, `globacom` means `glo`.",
        examples: ["mtn"],
      }),
    phone_number: phoneNumberField,
    amount: nairaField
      .check(z.minimum(AIRTIME_NAIRA_MIN, `Must be at least ${AIRTIME_NAIRA_MIN} NGN`))
      .register(z.globalRegistry, {
        description:
          "NGN, at most 2 decimals; floating-point noise of up to a millionth of a kobo is rounded away. The largest amount is a setting of the deployment.",
      }),
    reference: z.optional(referenceField),
  }),
).register(components, { id: "AirtimePurchaseRequest" });
export type AirtimePurchaseRequest = z.infer<typeof airtimePurchaseRequest>;

export const purchaseResult = z.object({ transaction: purchasedTransaction }).register(components, { id: "Purchase" });
