import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { type BuildOptions, build, type Metafile } from "esbuild";
import { sdkOptions } from "../../infra/bundle/bundle-options.ts";
import { SDK_FILE } from "../../infra/bundle/sdk-file.ts";
import type { Stack } from "./stacks.ts";

const runtime = fileURLToPath(new URL("lambda-runtime.ts", import.meta.url));
/** What invokes a bundle has no types: Node takes longer to remove them than a handler to start. */
const runtimeOptions = { bundle: true, format: "esm", platform: "node" } as const satisfies BuildOptions;

export const origins = ["AWS SDK", "zod", "frameworks and middleware", "other packages", "own code"] as const;
export type Origin = (typeof origins)[number];

export type Bundle = {
  readonly path: string;
  /** What invokes it. */
  readonly runtimePath: string;
  readonly bytes: number;
  readonly gzipBytes: number;
  /** Bytes by origin. */
  readonly contents: Readonly<Record<Origin, number>>;
};

/** Each is built once for all parts. */
const built = new Map<string, ReturnType<typeof buildOnce>>();

const buildOnce = async (entry: string, options: BuildOptions) => {
  const { metafile, outputFiles } = await build({
    ...options,
    ...{ entryPoints: [entry], outdir: ".", write: false, metafile: true },
  });
  return { metafile, bytes: outputFiles[0]?.contents ?? new Uint8Array() };
};

const codeOf = (entry: string, options: BuildOptions): ReturnType<typeof buildOnce> => {
  const code = built.get(entry) ?? buildOnce(entry, options);
  built.set(entry, code);
  return code;
};

/** Bundles the handler of a stack as it is deployed. */
export const bundleOf = async (
  { entry, bundle }: Pick<Stack, "entry" | "bundle">,
  outfile: string,
): Promise<Bundle> => {
  const { metafile, bytes } = await codeOf(entry, bundle);
  writeFileSync(outfile, bytes);
  // Beside each bundle, although only the service's may load it.
  writeFileSync(join(dirname(outfile), SDK_FILE), (await codeOf(sdkOptions.entryPoints[0], sdkOptions)).bytes);
  const runtimePath = `${outfile}.runtime.mjs`;
  writeFileSync(runtimePath, (await codeOf(runtime, runtimeOptions)).bytes);
  return {
    path: outfile,
    runtimePath,
    bytes: bytes.length,
    gzipBytes: gzipSync(bytes).length,
    contents: contentsOf(metafile),
  };
};

const contentsOf = ({ outputs }: Metafile): Bundle["contents"] => {
  const contents = { "AWS SDK": 0, zod: 0, "frameworks and middleware": 0, "other packages": 0, "own code": 0 };
  for (const { inputs } of Object.values(outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) contents[originOf(path)] += bytesInOutput;
  }
  return contents;
};

const FRAMEWORKS =
  /^(@middy\/|express$|serverless-http$|@?fastify(\/|$)|@?hono(\/|$)|@aws-lambda-powertools\/|rate-limiter-flexible$)/;

const originOf = (path: string): Origin => {
  const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
  if (name === undefined) return "own code";
  if (/^@(aws-sdk|smithy|aws-crypto|aws)\//.test(name)) return "AWS SDK";
  if (name === "zod") return "zod";
  return FRAMEWORKS.test(name) ? "frameworks and middleware" : "other packages";
};
