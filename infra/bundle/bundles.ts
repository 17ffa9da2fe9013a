import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type BuildOptions, buildSync } from "esbuild";
import { type FunctionName, functionNames } from "../functions.ts";
import { builtOnce } from "./built-once.ts";
import { bundleOptions, bundleOptionsOf, clientOptions, functionEntry, sdkOptions } from "./bundle-options.ts";
import { projectRoot } from "./project-root.ts";

/** What the bundles depend on besides esbuild's options. */
const SOURCES = [
  "client/src",
  "functions",
  "shared",
  "infra/bundle",
  "tools/acceptance/simulator",
  "tools/simulator",
  "package.json",
  "package-lock.json",
];

/** The folder with the bundles of these functions, by one run of esbuild, which reads the modules that they share once. */
const builtBundles = (name: string, names: readonly FunctionName[], options: BuildOptions): string =>
  builtFiles(name, { ...options, entryPoints: Object.fromEntries(names.map((each) => [each, functionEntry(each)])) });

const builtFiles = (name: string, options: BuildOptions): string =>
  builtOnce({
    name,
    sources: SOURCES,
    options: JSON.stringify(options),
    build: (outdir) => {
      const { metafile } = buildSync({ ...options, absWorkingDir: projectRoot, outdir, metafile: true });
      const others = Object.keys(metafile.inputs).filter((path) => !isSource(path));
      // A bundle would stay as it is when they change.
      if (others.length > 0) throw new Error(`Add to the sources of bundles: ${others.join(", ")}`);
    },
  });

/** Values of `define` and `alias` are among the options. */
const isSource = (path: string): boolean =>
  /^<(define|data):/.test(path) ||
  path.includes("node_modules/") ||
  SOURCES.some((source) => path.startsWith(`${source}/`));

/** Functions whose bundles have options of their own: esbuild builds them apart from the others. */
const apart: readonly FunctionName[] = ["serve-console", "serve-docs", "copy-audit"];
const folders = new Map<string, string>();

/** The code that a function is deployed with: what esbuild makes of `bundleOptionsOf`. */
export const bundleOf = (name: FunctionName): string =>
  built(apart.includes(name) ? `${name}-bundle` : "bundles", name);

/** The SDK as it lies beside the bundles that may load it. */
export const sdkBundle = (): string => built("sdk-bundle", "sdk");

/** The simulated upstream of a throw-away stage. */
export const simulatorBundle = (): string => built("simulator-bundle", "handler");

export { docsPageForBundle as docsPage } from "../../functions/serve-docs/docs-page.ts";
export { consoleFiles } from "./console-files.ts";

const builds: Readonly<Record<string, () => string>> = {
  bundles: () => bundlesOfOthers(),
  ...Object.fromEntries(
    apart.map((name) => [`${name}-bundle`, () => builtBundles(`${name}-bundle`, [name], bundleOptionsOf(name))]),
  ),
  "sdk-bundle": () => builtFiles("sdk-bundle", sdkOptions),
  "simulator-bundle": () =>
    builtFiles("simulator-bundle", {
      ...clientOptions,
      entryPoints: [`${projectRoot}tools/acceptance/simulator/handler.ts`],
    }),
};

const built = (build: string, name: string): string => {
  const folder = folders.get(build) ?? builds[build]?.() ?? "";
  folders.set(build, folder);
  return readFileSync(join(folder, `${name}.js`), "utf8");
};

const bundlesOfOthers = (): string =>
  builtBundles(
    "bundles",
    functionNames.filter((name) => !apart.includes(name)),
    bundleOptions,
  );
