import { gzipSync } from "node:zlib";
import { bundleOf } from "../../infra/bundle/bundles.ts";
import type { FunctionName } from "../../infra/functions.ts";

/** The size of a function's bundle, uncompressed and in gzip. */
export const bundleSize = (name: FunctionName) => {
  const code = bundleOf(name);
  return { bytes: Buffer.byteLength(code), gzipBytes: gzipSync(code).length };
};
