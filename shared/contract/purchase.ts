import * as z from "zod";
import { idField, phoneNumberField, referenceField } from "./fields.ts";
import { AIRTIME_NAIRA_MIN } from "./limits.ts";
import { nairaField } from "./naira.ts";
import { withoutOwnNumber } from "./own-number.ts";
import { purchasedTransaction } from "./transaction.ts";

/** POST /vtu/data/purchase. */
export const dataPurchaseRequest = withoutOwnNumber(
  z.object({
    network_id: idField,
    plan_id: idField,
    phone_number: phoneNumberField,
    reference: referenceField.optional(),
  }),
);
export type DataPurchaseRequest = z.infer<typeof dataPurchaseRequest>;

/** NGN. The largest amount is a setting of the deployment. */
const amountField = nairaField.min(AIRTIME_NAIRA_MIN, `Must be at least ${AIRTIME_NAIRA_MIN} NGN`);

/** POST /vtu/airtime/purchase. The networks are those of the catalog (docs/interface.md 11.D1). */
export const airtimePurchaseRequest = withoutOwnNumber(
  z.object({
    network: z.string("Must be a string").trim().toLowerCase(),
    phone_number: phoneNumberField,
    amount: amountField,
    reference: referenceField.optional(),
  }),
);
export type AirtimePurchaseRequest = z.infer<typeof airtimePurchaseRequest>;

export const purchaseResult = z.object({ transaction: purchasedTransaction });
