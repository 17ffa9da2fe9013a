import { readFileSync } from "node:fs";
import { aLambdaContext } from "../../builders/lambda-context.ts";

/**
 * A process that does what Lambda's runtime does in a new instance: load the bundle, invoke it with one event, return
 * the result.
 */
const [bundle = "", event = ""] = process.argv.slice(2);
const { handler } = await import(bundle);
const answer: unknown = await handler(JSON.parse(readFileSync(event, "utf8")), aLambdaContext());
process.send?.({ answer });
process.disconnect();
process.exit();
