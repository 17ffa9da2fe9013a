import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import * as z from "#zod";
import { bundleOf, consoleFiles, docsPage, sdkBundle, simulatorBundle } from "../../infra/bundle/bundles.ts";
import {
  BUILT,
  CONSOLE_FILES_NAME,
  DOCS_PAGE_NAME,
  SDK_NAME,
  SIMULATOR_NAME,
} from "../../infra/bundle/packed-bundles.ts";
import { projectRoot } from "../../infra/bundle/project-root.ts";
import { filesBelow } from "../../infra/files-below.ts";
import { functionNames } from "../../infra/functions.ts";

const run = promisify(execFile);

const versions = z.record(z.string(), z.string());
const manifestSchema = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  license: z.string(),
  type: z.string(),
  engines: versions,
  dependencies: versions,
  devDependencies: versions,
  optionalDependencies: versions,
});
type Manifest = z.output<typeof manifestSchema>;

/** These build the bundles, which the package contains as they were built. */
const BUILDERS = ["bundle-options", "builtins", "bundles", "built-once", "console-files"];

/** Run as programs, and therefore in no import. */
const PROGRAMS = ["aws-cdk"];

/** One copy for the package and an app that uses its construct: CDK does not work with two. */
const PEERS = ["aws-cdk-lib", "constructs"];

/** Builds the package into a folder: this tree as JavaScript, with the functions' bundles and the console built beforehand. */
export const buildPackage = async (folder: string): Promise<void> => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, BUILT), { recursive: true });
  // JavaScript for all, types for what repositories and apps import. `npm run check` finds what is wrong about the types.
  for (const config of ["tsconfig.json", "tsconfig.types.json"]) {
    // One thread, because several check again what they share.
    const options = ["-p", join(projectRoot, "tools/package", config), "--outDir", folder, "--singleThreaded"];
    await run(process.execPath, [join(projectRoot, "node_modules/typescript/bin/tsc"), ...options]);
  }
  for (const name of BUILDERS) {
    for (const suffix of ["js", "d.ts"]) rmSync(join(folder, "infra/bundle", `${name}.${suffix}`));
  }
  const write = (name: string, text: string): void => writeFileSync(join(folder, BUILT, name), text);
  for (const name of functionNames) write(`${name}.js`, bundleOf(name));
  write(`${SDK_NAME}.js`, sdkBundle());
  write(`${SIMULATOR_NAME}.js`, simulatorBundle());
  write(DOCS_PAGE_NAME, JSON.stringify(docsPage()));
  write(CONSOLE_FILES_NAME, JSON.stringify(consoleFiles()));
  for (const name of [
    "LICENSE",
    "README.md",
    "CHANGELOG.md",
    "docs",
    "stages.ts",
    "cdk.json",
    "infra/policies",
    "tools/init/deploy.yml",
  ])
    cpSync(join(projectRoot, name), join(folder, name), { recursive: true });
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")));
  writeFileSync(join(folder, "package.json"), JSON.stringify(packedManifest(manifest, folder), undefined, 2));
};

const packedManifest = (manifest: Manifest, folder: string) => {
  const { name, version, description, license, type, engines, optionalDependencies } = manifest;
  const all = { ...manifest.devDependencies, ...manifest.dependencies };
  const versionsOf = (names: readonly string[]) =>
    Object.fromEntries(names.toSorted().map((each) => [each, versionOf(all, each)]));
  const imported = [...new Set([...importedPackages(folder), ...PROGRAMS])].filter(
    (each) => each !== name && !Object.hasOwn(optionalDependencies, each),
  );
  const entry = (file: string) => ({ types: `${file}.d.ts`, default: `${file}.js` });
  return {
    ...{ name, version, description, license, type, engines },
    bin: { airtime: "tools/airtime/main.js" },
    exports: { ".": entry("./infra/index"), "./cdk": entry("./infra/cdk"), "./package.json": "./package.json" },
    imports: {
      "#aws-sdk": "./shared/platform/aws/sdk.js",
      "#bundles": "./infra/bundle/packed-bundles.js",
      "#zod": "./shared/contract/zod.js",
    },
    dependencies: versionsOf(imported.filter((each) => !PEERS.includes(each))),
    peerDependencies: versionsOf(PEERS),
    optionalDependencies,
  };
};

const versionOf = (all: Readonly<Record<string, string>>, name: string): string => {
  const version = all[name];
  if (version === undefined) throw new Error(`The package imports ${name}, which package.json does not name`);
  return version;
};

const IMPORT = /(?:\bfrom|\bimport|\bimport\()\s*"((?:@[\w.-]+\/)?[a-z][\w.-]*)(?:\/[^"]*)?"/g;

const importedPackages = (folder: string): readonly string[] =>
  filesBelow(folder)
    .filter(
      (file) => file.endsWith(".js") && !file.startsWith(join(folder, BUILT)) && !file.startsWith(join(folder, "docs")),
    )
    .flatMap((file) => [...readFileSync(file, "utf8").matchAll(IMPORT)].map(([, name = ""]) => name))
    .filter((name) => !name.startsWith("node:"));
