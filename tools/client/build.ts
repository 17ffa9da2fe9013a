import { execFile } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { projectRoot } from "../../infra/bundle/project-root.ts";

const run = promisify(execFile);
const clientFolder = join(projectRoot, "client");

/** The oldest runtime of `engines` in client/package.json. */
const TARGET = "node20";

/**
 * Builds the package into a folder: its files as they are published. Its modules are one file for each module system;
 * the types are beside them, once for each, because TypeScript takes a file's module system from its package.json.
 */
export const buildClient = async (folder: string): Promise<void> => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of ["package.json", "README.md", "CHANGELOG.md"])
    cpSync(join(clientFolder, name), join(folder, name));
  cpSync(join(clientFolder, "examples"), join(folder, "examples"), { recursive: true });
  cpSync(join(projectRoot, "LICENSE"), join(folder, "LICENSE"));
  await Promise.all([buildFormat(folder, "esm"), buildFormat(folder, "cjs")]);
  writeFileSync(join(folder, "dist/cjs/package.json"), '{ "type": "commonjs" }\n');
};

const buildFormat = async (folder: string, format: "esm" | "cjs"): Promise<void> => {
  const outdir = join(folder, "dist", format);
  await build({
    entryPoints: [join(clientFolder, "src/index.ts")],
    outfile: join(outdir, "index.js"),
    bundle: true,
    format,
    // Nothing of a platform but what all of them have.
    platform: "neutral",
    target: TARGET,
    minifySyntax: true,
    minifyWhitespace: true,
    logLevel: "error",
  });
  const compiler = join(projectRoot, "node_modules/typescript/bin/tsc");
  await run(process.execPath, [compiler, "-p", clientFolder, "--outDir", outdir]);
};
