import { statSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../../infra/bundle/project-root.ts";
import { buildPackage, packPackage } from "./build.ts";

/** `npm run package`: builds the package of the service and packs it into .local/package. */
const folder = join(projectRoot, ".local", "package");
await buildPackage(join(folder, "package"));
const file = await packPackage(join(folder, "package"), folder);
console.log(`${file} (${statSync(file).size.toLocaleString("en")} bytes)`);
