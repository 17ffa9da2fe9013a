import { rmSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildClient, packClient } from "./build.ts";

/** `npm run client`: builds client/ and packs it into .local/client. */
const folder = fileURLToPath(new URL("../../.local/client/", import.meta.url));
// An earlier version beside it would be installed too by a pattern.
rmSync(folder, { recursive: true, force: true });
await buildClient(`${folder}package`);
const file = await packClient(`${folder}package`, folder);
console.log(`${file} (${statSync(file).size.toLocaleString("en")} bytes)`);
