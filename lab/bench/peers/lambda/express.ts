import serverless from "serverless-http";
import { app } from "../express.ts";

/** https://github.com/dougmoscrop/serverless-http */
export const handler = serverless(app);
