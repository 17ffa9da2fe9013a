import * as z from "zod";
import { nairaField } from "./naira.ts";

/** A price in the catalog: NGN, rounded to whole kobo. */
const priceField = nairaField.positive().max(10_000_000);

export const networkSchema = z.object({
  id: z.int().positive(),
  name: z.string().trim().min(1).max(60),
  code: z.string().trim().toLowerCase().min(1).max(30),
});
export type Network = z.infer<typeof networkSchema>;

export const dataPlanSchema = z.object({
  id: z.int().positive(),
  network_id: z.int().positive(),
  name: z.string().trim().min(1).max(120),
  price: priceField,
  validity: z.string().trim().max(60),
});
export type DataPlan = z.infer<typeof dataPlanSchema>;

/** Active networks and their plans. Source: docs/interface.md 9.1 to 9.3. */
export const catalogSchema = z.object({ networks: z.array(networkSchema), data_plans: z.array(dataPlanSchema) });
export type Catalog = z.infer<typeof catalogSchema>;
