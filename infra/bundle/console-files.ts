import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { BundledFiles } from "../../functions/serve-console/console-files.ts";
import { prepareDocument } from "../../shared/call/prepared-document.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const cache = join(root, ".local", "console");

/** What the built pages depend on. */
const SOURCES = ["console", "shared/contract", "package-lock.json"];

let files: BundledFiles | undefined;

/** The built pages of the console, as serve-console's bundle contains them. */
export const consoleFiles = (): BundledFiles => {
  files ??= readFiles(builtConsole());
  return files;
};

/**
 * The folder with the built pages. Vite builds them if no process has done so since the last change: it takes some
 * seconds, and needs no network.
 */
export const builtConsole = (): string => {
  const name = sourcesHash();
  const folder = join(cache, name);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const earlier = readdirSync(cache).filter((other) => other !== name && !other.startsWith(UNFINISHED));
  const built = mkdtempSync(join(cache, UNFINISHED));
  try {
    // Vitest's NODE_ENV would make React's development build.
    const env = { ...process.env, NODE_ENV: "production" };
    execFileSync(process.execPath, [VITE, "build", "console", "--outDir", built, "--logLevel", "warn"], {
      cwd: root,
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    finish(built, folder);
  } finally {
    rmSync(built, { recursive: true, force: true });
  }
  for (const other of earlier) rmSync(join(cache, other), { recursive: true, force: true });
  return folder;
};

const VITE = join(root, "node_modules", "vite", "bin", "vite.js");
const UNFINISHED = "unfinished-";

/** A folder that has its name is whole. Another process may have built the same. */
const finish = (built: string, folder: string): void => {
  try {
    renameSync(built, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
};

const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();

const sourcesHash = (): string => {
  const hash = createHash("sha256");
  for (const source of SOURCES.map((name) => join(root, name))) {
    for (const file of source.endsWith(".json") ? [source] : filesBelow(source)) {
      hash
        .update(`${relative(root, file)}\0`)
        .update(readFileSync(file))
        .update("\0");
    }
  }
  return hash.digest("hex").slice(0, 16);
};

const readFiles = (folder: string): BundledFiles =>
  Object.fromEntries(
    filesBelow(folder).map((file) => {
      const { gzip, etag } = prepareDocument(readFileSync(file, "utf8"));
      return [relative(folder, file), { gzip: Buffer.from(gzip).toString("base64"), etag }];
    }),
  );
