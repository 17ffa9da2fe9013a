import * as z from "#zod";
import { components } from "./components.ts";
import { wellFormed } from "./fields.ts";
import { nairaField } from "./values/money.ts";

/** A price in the catalog: NGN, rounded to whole kobo. */
const priceField = nairaField
  .check(z.positive(), z.maximum(10_000_000))
  .register(z.globalRegistry, { description: "What a purchase debits from the wallet: NGN, at most 2 decimals." });

const id = z.int().check(z.positive());
const text = z.string().check(z.trim(), wellFormed);
const name = text.check(z.minLength(1));

export const networkSchema = z
  .object({
    id: id.check(z.meta({ description: "`network_id` of a data purchase." })),
    name: name.check(z.maxLength(60)),
    code: name
      .check(z.toLowerCase(), z.maxLength(30))
      .register(z.globalRegistry, { description: "Lower-case network code: `network` of an airtime purchase." }),
  })
  .register(components, { id: "Network" });
export type Network = z.infer<typeof networkSchema>;

export const dataPlanSchema = z
  .object({
    id: id.check(z.meta({ description: "`plan_id` of a data purchase." })),
    network_id: id.check(z.meta({ description: "The `id` of a network in the catalog." })),
    name: name.check(z.maxLength(120)),
    price: priceField,
    validity: text
      .check(z.maxLength(60))
      .register(z.globalRegistry, { description: "How long the bundle lasts, as text for people." }),
  })
  .register(components, { id: "DataPlan" });
export type DataPlan = z.infer<typeof dataPlanSchema>;

/** Active networks and their plans. Source: docs/interface.md 9.1 to 9.3. */
export const catalogSchema = z
  .object({ networks: z.array(networkSchema), data_plans: z.array(dataPlanSchema) })
  .register(components, { id: "Catalog" });
export type Catalog = z.infer<typeof catalogSchema>;
