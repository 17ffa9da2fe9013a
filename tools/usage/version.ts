import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "#zod";
import { projectRoot } from "../../infra/bundle/project-root.ts";

/** The version of this tree, or of the package that it was built into. */
export const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")));
