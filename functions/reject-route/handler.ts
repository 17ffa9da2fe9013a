import { apiHandler } from "../../shared/platform/api-handler.ts";

/** Whatever no route matches: 404 in the envelope. It serves no operation, and admits nobody. */
export const handler = apiHandler(
  "reject-route",
  () => Promise.reject(new Error("reject-route has no operation to admit to")),
  {},
);
