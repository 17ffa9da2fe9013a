import * as z from "#zod";
import { successEnvelope } from "./http.ts";

const networkSchema = z.object({ id: z.int(), name: z.string(), code: z.string() });
const planSchema = z.object({
  id: z.int(),
  network_id: z.int(),
  name: z.string(),
  price: z.number(),
  validity: z.string(),
});
const catalogSchema = z.object({ networks: z.array(networkSchema), data_plans: z.array(planSchema) });
type Catalog = z.infer<typeof catalogSchema>;
const catalogBodySchema = z.object({ data: catalogSchema });

const dataPlan = (id: number, network_id: number, name: string, price: number, validity: string) => ({
  ...{ id, network_id, name, price, validity },
});

const builtInCatalog: Catalog = {
  networks: [
    { id: 1, name: "MTN", code: "mtn" },
    { id: 2, name: "Airtel", code: "airtel" },
    { id: 3, name: "Glo", code: "glo" },
    { id: 4, name: "9mobile", code: "9mobile" },
  ],
  data_plans: [
    dataPlan(101, 1, "1GB", 500, "30 days"),
    dataPlan(102, 1, "110MB", 100, "1 day"),
    dataPlan(103, 1, "500MB", 350, "7 days"),
    dataPlan(104, 1, "2GB", 750, "2 days"),
    dataPlan(105, 1, "3.2GB", 1_485.5, "30 days"),
    dataPlan(106, 1, "7GB", 3_500, "30 days"),
    dataPlan(107, 1, "20GB", 7_500, "30 days"),
    dataPlan(108, 1, "75GB", 18_000, "30 days"),
    dataPlan(201, 2, "100MB", 98.75, "1 day"),
    dataPlan(202, 2, "1GB", 485.5, "7 days"),
    dataPlan(203, 2, "2GB", 1_490, "30 days"),
    dataPlan(204, 2, "4GB", 2_475.25, "30 days"),
    dataPlan(205, 2, "10GB", 4_000, "30 days"),
    dataPlan(206, 2, "18GB", 6_000, "30 days"),
    dataPlan(207, 2, "35GB", 9_900, "30 days"),
    dataPlan(208, 2, "60GB", 15_000, "30 days"),
    dataPlan(301, 3, "125MB", 95, "1 day"),
    dataPlan(302, 3, "1.1GB", 475.5, "14 days"),
    dataPlan(303, 3, "2.6GB", 940, "30 days"),
    dataPlan(304, 3, "5GB", 1_425.9, "30 days"),
    dataPlan(305, 3, "10.8GB", 2_850, "30 days"),
    dataPlan(306, 3, "18.2GB", 4_750, "30 days"),
    dataPlan(307, 3, "50GB", 9_500, "30 days"),
    dataPlan(401, 4, "83MB", 100, "1 day"),
    dataPlan(402, 4, "650MB", 590.05, "7 days"),
    dataPlan(403, 4, "1.4GB", 980, "14 days"),
    dataPlan(404, 4, "3.4GB", 1_960, "30 days"),
    dataPlan(405, 4, "7.1GB", 3_920, "30 days"),
    dataPlan(406, 4, "15GB", 6_860.1, "30 days"),
    dataPlan(407, 4, "35GB", 14_700, "30 days"),
  ],
};

/** The catalog response of a new simulator. Source: docs/interface.md 9.1 to 9.3. */
export const builtInCatalogBody = (): unknown =>
  successEnvelope("Data plans retrieved successfully.", structuredClone(builtInCatalog));

/** The catalog that purchases are priced from. While a test serves a malformed catalog, that is the built-in one. */
export const purchasableCatalog = (catalogBody: unknown): Catalog => {
  const parsed = catalogBodySchema.safeParse(catalogBody);
  return parsed.success ? parsed.data.data : builtInCatalog;
};
