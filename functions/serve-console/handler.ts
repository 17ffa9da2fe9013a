import { admitPublic, apiHandler } from "../../shared/lambda/api-handler.ts";

/** The pages of the console. */
export const handler = apiHandler("serve-console", admitPublic, {});
