import { build } from "esbuild";
import { expect, test } from "vitest";
import { bundleOptions, bundleOptionsOf, functionEntry } from "../../../../infra/bundle/bundle.ts";
import { bundleOf } from "../../../../infra/bundle/bundles.ts";
import { functionNames } from "../../../../infra/functions.ts";

/** Packages that record calls, with their requests and errors, in traces. */
const INSTRUMENTATION = /node_modules\/(aws-xray-sdk|@aws-lambda-powertools|@opentelemetry|dd-trace)/;

test("the bundles have no instrumentation that could put personal data into a trace", async () => {
  const entryPoints = functionNames.map(functionEntry);
  const { metafile } = await build({ ...bundleOptions, entryPoints, outdir: ".", write: false, metafile: true });
  const inputs = Object.keys(metafile.inputs);
  expect(inputs).toEqual(expect.arrayContaining(functionNames.map((name) => `functions/${name}/handler.ts`)));
  expect(inputs.filter((path) => INSTRUMENTATION.test(path))).toEqual([]);
});

test.each(["purchase", "console-api", "serve-console"] as const)(
  "the bundle of %s is the same in a run of esbuild of its own",
  async (name) => {
    const { outputFiles } = await build({ ...bundleOptionsOf(name), write: false });
    expect(outputFiles.map(({ text }) => text)).toEqual([bundleOf(name)]);
  },
);
