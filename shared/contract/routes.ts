import type { Routes } from "./route.ts";
import { checkIdentityRoutes } from "./routes/check-identity.ts";
import { listCatalogRoutes } from "./routes/list-catalog.ts";
import { purchaseRoutes } from "./routes/purchase.ts";
import { readAccountRoutes } from "./routes/read-account.ts";
import { receiveUpstreamEventRoutes } from "./routes/receive-upstream-event.ts";
import { serveDocsRoutes } from "./routes/serve-docs.ts";

const { cancelOrder, ...purchases } = purchaseRoutes;

/** Every route, by the name of its operation, in the order of the documentation. A function's code has its own only. */
export const routes = {
  ...listCatalogRoutes,
  ...purchases,
  ...checkIdentityRoutes,
  ...readAccountRoutes,
  cancelOrder,
  ...serveDocsRoutes,
  ...receiveUpstreamEventRoutes,
};

/** The routes that apps call, as the OpenAPI document describes them. */
export const appRoutes: Routes = Object.fromEntries(
  Object.entries<Routes[string]>(routes).filter(([, { audience }]) => audience === undefined),
);
