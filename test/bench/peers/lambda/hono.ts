import { handle } from "hono/aws-lambda";
import { app } from "../hono.ts";

export const handler = handle(app);
