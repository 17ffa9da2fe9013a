import { statSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../../infra/bundle/project-root.ts";
import { packFolder } from "../usage/pack-folder.ts";
import { temporaryFolder } from "../usage/temporary-folder.ts";
import { buildPackage } from "./build.ts";

/** `npm run package`: builds the package of the service and packs it into .local/package. */
// In a folder of its own: another build of this tree would delete its files, and it would pack what is left.
const built = temporaryFolder("package-");
await buildPackage(built);
const file = await packFolder(built, join(projectRoot, ".local", "package"));
console.log(`${file} (${statSync(file).size.toLocaleString("en")} bytes)`);
