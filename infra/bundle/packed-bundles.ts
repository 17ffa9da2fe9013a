import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BundledFiles } from "../../functions/serve-console/console-files.ts";
import type { docsPageForBundle } from "../../functions/serve-docs/docs-page.ts";
import type { FunctionName } from "../functions.ts";
import { projectRoot } from "./project-root.ts";

/** What `bundles.ts` builds, as the package contains it (`#bundles` in its package.json is this file). */

/** The folder of what was built beforehand. */
export const BUILT = "built";
export const CONSOLE_FILES_NAME = "console-files.json";
export const DOCS_PAGE_NAME = "docs-page.json";
export const SDK_NAME = "sdk";
export const SIMULATOR_NAME = "simulator";

const read = (name: string): string => readFileSync(join(projectRoot, BUILT, name), "utf8");

export const bundleOf = (name: FunctionName): string => read(`${name}.js`);
export const sdkBundle = (): string => read(`${SDK_NAME}.js`);
export const simulatorBundle = (): string => read(`${SIMULATOR_NAME}.js`);
export const docsPage = (): ReturnType<typeof docsPageForBundle> => JSON.parse(read(DOCS_PAGE_NAME));
export const consoleFiles = (): BundledFiles => JSON.parse(read(CONSOLE_FILES_NAME));
