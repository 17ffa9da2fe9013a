import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { bundleOptionsOf } from "../../infra/bundle/bundle.ts";
import type { FunctionName } from "../../infra/functions.ts";

export type BundleSize = { readonly bytes: number; readonly gzipBytes: number };

/** The size of a function's bundle, uncompressed and in gzip. */
export const bundleSize = async (name: FunctionName): Promise<BundleSize> => {
  const { outputFiles } = await build({ ...bundleOptionsOf(name), write: false });
  const contents = outputFiles[0]?.contents ?? new Uint8Array();
  return { bytes: contents.length, gzipBytes: gzipSync(contents).length };
};
