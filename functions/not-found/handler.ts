import { admitPublic, apiHandler } from "../../shared/lambda/api-handler.ts";

/** Whatever no route matches: 404 in the envelope. It serves no operation. */
export const handler = apiHandler("not-found", admitPublic, {});
