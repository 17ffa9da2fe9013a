import { catalogSchema } from "../catalog.ts";
import { noInput, type Routes } from "../route.ts";

/** The routes of the function `list-catalog`. */
export const listCatalogRoutes = {
  listCatalog: {
    method: "GET",
    path: "/v1/vtu/data",
    function: "list-catalog",
    group: "catalog",
    input: noInput,
    data: catalogSchema,
    summary: "List active networks and data plans",
    clientMethod: "catalog.get",
    errors: ["provider_unavailable"],
    hasEtag: true,
    example: {
      input: {},
      message: "Networks and data plans",
      data: {
        networks: [{ id: 1, name: "MTN", code: "mtn" }],
        data_plans: [{ id: 101, network_id: 1, name: "1GB", price: 500, validity: "30 days" }],
      },
    },
  },
} as const satisfies Routes;
