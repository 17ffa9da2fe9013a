import { admitPublic, apiHandler } from "../../shared/lambda/api-handler.ts";

/** The actions of the console. */
export const handler = apiHandler("console-api", admitPublic, {});
