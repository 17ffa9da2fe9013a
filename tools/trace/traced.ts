import { SourceMap } from "node:module";
import { isAbsolute, join, relative } from "node:path";
import { build } from "esbuild";
import * as z from "#zod";
import { bundleOptionsOf } from "../../infra/bundle/bundle-options.ts";
import { projectRoot } from "../../infra/bundle/project-root.ts";
import type { FunctionName } from "../../infra/functions.ts";

/** A function's bundle as it is deployed, and its source map, which is not: equal sources make equal bytes. */
export const mappedBundle = async (name: FunctionName): Promise<{ readonly code: string; readonly map: string }> => {
  const { outputFiles } = await build({
    ...bundleOptionsOf(name),
    outfile: join(projectRoot, "index.mjs"),
    sourcemap: "external",
    write: false,
  });
  const textOf = (ending: string): string => outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? "";
  return { code: textOf("index.mjs"), map: textOf("index.mjs.map") };
};

const sourceMap = z.object({
  file: z._default(z.string(), "index.mjs"),
  version: z.number(),
  sources: z.array(z.string()),
  sourcesContent: z._default(z.array(z.string()), []),
  names: z.array(z.string()),
  mappings: z.string(),
  sourceRoot: z._default(z.string(), ""),
});

/** A position in a bundle, as Node's stack traces write it. */
const POSITION = /(?:file:\/\/)?(?:\/[\w.-]+)+\/index\.mjs:(\d+):(\d+)/g;

/** A log line with each position in the function's bundle replaced by the one in its source. */
export const traced = async (name: FunctionName, line: string): Promise<string> => {
  const map = new SourceMap(sourceMap.parse(JSON.parse((await mappedBundle(name)).map)));
  return line.replaceAll(POSITION, (position, row: string, column: string) => {
    const origin = map.findOrigin(Number(row), Number(column));
    return "fileName" in origin ? `${sourceOf(origin.fileName)}:${origin.lineNumber}:${origin.columnNumber}` : position;
  });
};

const sourceOf = (file: string): string => (isAbsolute(file) ? relative(projectRoot, file) : file);
