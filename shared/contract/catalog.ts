import * as z from "zod";
import { components } from "./components.ts";
import { nairaField } from "./money.ts";

/** A price in the catalog: NGN, rounded to whole kobo. */
const priceField = nairaField
  .positive()
  .max(10_000_000)
  .meta({ description: "What a purchase debits from the wallet: NGN, at most 2 decimals." });

const id = z.int().positive();
const text = z.string().trim();
const name = text.min(1);

export const networkSchema = z
  .object({
    id: id.meta({ description: "`network_id` of a data purchase." }),
    name: name.max(60),
    code: name
      .toLowerCase()
      .max(30)
      .meta({ description: "Lower-case network code: `network` of an airtime purchase." }),
  })
  .register(components, { id: "Network" });
export type Network = z.infer<typeof networkSchema>;

export const dataPlanSchema = z
  .object({
    id: id.meta({ description: "`plan_id` of a data purchase." }),
    network_id: id.meta({ description: "The `id` of a network in the catalog." }),
    name: name.max(120),
    price: priceField,
    validity: text.max(60).meta({ description: "How long the bundle lasts, as text for people." }),
  })
  .register(components, { id: "DataPlan" });
export type DataPlan = z.infer<typeof dataPlanSchema>;

/** Active networks and their plans. Source: docs/interface.md 9.1 to 9.3. */
export const catalogSchema = z
  .object({ networks: z.array(networkSchema), data_plans: z.array(dataPlanSchema) })
  .register(components, { id: "Catalog" });
export type Catalog = z.infer<typeof catalogSchema>;
