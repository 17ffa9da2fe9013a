import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type BuildOptions, buildSync } from "esbuild";
import { type FunctionName, functionNames } from "../functions.ts";
import { builtOnce } from "./built-once.ts";
import { bundleOptions, bundleOptionsOf, functionEntry } from "./bundle.ts";
import { projectRoot } from "./project-root.ts";

/** What the bundles depend on besides esbuild's options. */
const SOURCES = ["functions", "shared", "infra/bundle", "package-lock.json"];

/** The folder with the bundles of these functions, by one run of esbuild, which reads the modules that they share once. */
const builtBundles = (name: string, names: readonly FunctionName[], options: BuildOptions): string =>
  builtOnce({
    name,
    sources: SOURCES,
    options: JSON.stringify(options),
    build: (outdir) => {
      const entryPoints = Object.fromEntries(names.map((each) => [each, functionEntry(each)]));
      const { metafile } = buildSync({ ...options, absWorkingDir: projectRoot, entryPoints, outdir, metafile: true });
      const others = Object.keys(metafile.inputs).filter((path) => !isSource(path));
      // A bundle would stay as it is when they change.
      if (others.length > 0) throw new Error(`Add to the sources of bundles: ${others.join(", ")}`);
    },
  });

/** A value of `define` is among the options. */
const isSource = (path: string): boolean =>
  path.startsWith("<define:") ||
  path.includes("node_modules/") ||
  SOURCES.some((source) => path.startsWith(`${source}/`));

/** The only one whose bundle has options of its own. */
const ALONE = "serve-console";
const folders = new Map<string, string>();

/** The code that a function is deployed with: what esbuild makes of `bundleOptionsOf`. */
export const bundleOf = (name: FunctionName): string => {
  const build = name === ALONE ? "console-bundle" : "bundles";
  const folder = folders.get(build) ?? (name === ALONE ? bundleOfConsole() : bundlesOfOthers());
  folders.set(build, folder);
  return readFileSync(join(folder, `${name}.js`), "utf8");
};

const bundleOfConsole = (): string => builtBundles("console-bundle", [ALONE], bundleOptionsOf(ALONE));

const bundlesOfOthers = (): string =>
  builtBundles(
    "bundles",
    functionNames.filter((name) => name !== ALONE),
    bundleOptions,
  );
