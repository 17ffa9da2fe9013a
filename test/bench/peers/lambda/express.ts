import serverless from "serverless-http";
import { app } from "../express.ts";

/** Express as it is usually deployed to Lambda. */
export const handler = serverless(app);
