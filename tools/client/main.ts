import { copyFileSync, mkdirSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { projectRoot } from "../../infra/bundle/project-root.ts";
import { packFolder } from "../usage/pack-folder.ts";
import { temporaryFolder } from "../usage/temporary-folder.ts";
import { buildClient } from "./build.ts";

/** `npm run client`: builds client/ and packs it into .local/client. */
// In a folder of its own, as npm run package does: another build of this tree would delete its files.
const scratch = temporaryFolder("client-");
await buildClient(join(scratch, "package"));
const packed = await packFolder(join(scratch, "package"), scratch);
const folder = join(projectRoot, ".local", "client");
// An earlier version beside it would be installed too by a pattern.
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const file = join(folder, basename(packed));
copyFileSync(packed, file);
console.log(`${file} (${statSync(packed).size.toLocaleString("en")} bytes)`);
