import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { BundledFiles } from "../../functions/serve-console/console-files.ts";
import { prepareDocument } from "../../shared/call/prepared-document.ts";
import { filesBelow } from "../files-below.ts";
import { builtOnce } from "./built-once.ts";
import { projectRoot } from "./project-root.ts";

let files: BundledFiles | undefined;

/** The built pages of the console, as serve-console's bundle contains them. */
export const consoleFiles = (): BundledFiles => {
  files ??= readFiles(builtConsole());
  return files;
};

/** The folder with the built pages. Vite takes some seconds, and needs no network. */
export const builtConsole = (): string =>
  builtOnce({
    name: "console",
    sources: ["console", "shared/contract", "docs/runbook.md", "package-lock.json"],
    build: buildPages,
  });

const VITE = join(projectRoot, "node_modules", "vite", "bin", "vite.js");

const buildPages = (folder: string): void => {
  // Vitest's NODE_ENV would make React's development build.
  const env = { ...process.env, NODE_ENV: "production" };
  execFileSync(process.execPath, [VITE, "build", "console", "--outDir", folder, "--logLevel", "warn"], {
    cwd: projectRoot,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
};

const readFiles = (folder: string): BundledFiles =>
  Object.fromEntries(
    filesBelow(folder).map((file) => {
      const { gzip, etag } = prepareDocument(readFileSync(file, "utf8"));
      return [relative(folder, file), { gzip: Buffer.from(gzip).toString("base64"), etag }];
    }),
  );
