import * as z from "zod";
import { idField, phoneNumberField, referenceField } from "./fields.ts";
import { purchasedTransaction } from "./transaction.ts";

/** POST /vtu/data/purchase. Unknown fields are ignored: v1 only grows. */
export const dataPurchaseRequest = z.object({
  network_id: idField,
  plan_id: idField,
  phone_number: phoneNumberField,
  reference: referenceField.optional(),
});
export type DataPurchaseRequest = z.infer<typeof dataPurchaseRequest>;

export const purchaseResult = z.object({ transaction: purchasedTransaction });
