import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "#zod";

/**
 * The settings that `cdk` takes from cdk.json. A bootstrap of this project's own has a stack and a qualifier, so that
 * one with other permissions takes none from other apps of the account.
 */
export const cdkJson = z
  .object({ toolkitStackName: z.string(), context: z.record(z.string(), z.unknown()) })
  .parse(JSON.parse(readFileSync(join(process.cwd(), "cdk.json"), "utf8")));
