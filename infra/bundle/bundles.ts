import { basename } from "node:path";
import { type BuildOptions, buildSync } from "esbuild";
import { type FunctionName, functionNames } from "../functions.ts";
import { bundleOptions, bundleOptionsOf, functionEntry } from "./bundle.ts";

/** The code of each function, by one run of esbuild, which reads the modules that they share once. */
const bundlesOf = (names: readonly FunctionName[], options: BuildOptions): ReadonlyMap<string, string> => {
  const entryPoints = Object.fromEntries(names.map((name) => [name, functionEntry(name)]));
  const { outputFiles } = buildSync({ ...options, entryPoints, outdir: ".", write: false });
  return new Map(outputFiles.map(({ path, text }) => [basename(path, ".js"), text]));
};

/** The only one whose bundle has options of its own. */
const ALONE = "serve-console";
let others: ReadonlyMap<string, string> | undefined;

/** The code that a function is deployed with: what esbuild makes of `bundleOptionsOf`. */
export const bundleOf = (name: FunctionName): string => {
  const bundles = name === ALONE ? bundlesOf([name], bundleOptionsOf(name)) : bundlesOfOthers();
  const code = bundles.get(name);
  if (code === undefined) throw new Error(`esbuild made no bundle of ${name}`);
  return code;
};

const bundlesOfOthers = (): ReadonlyMap<string, string> => {
  others ??= bundlesOf(
    functionNames.filter((name) => name !== ALONE),
    bundleOptions,
  );
  return others;
};
