import { admitPublic, apiHandler } from "../../shared/lambda/api-handler.ts";

/** Requests without a route: 404 in the error envelope. */
export const handler = apiHandler("not-found", admitPublic, {});
