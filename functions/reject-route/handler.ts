import { admitAnyone, apiHandler } from "../../shared/platform/api-handler.ts";

/** Whatever no route matches: 404 in the envelope. It serves no operation. */
export const handler = apiHandler("reject-route", admitAnyone, {});
