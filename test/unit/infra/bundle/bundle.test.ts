import { build } from "esbuild";
import { expect, test } from "vitest";
import { bundleOptionsOf } from "../../../../infra/bundle/bundle.ts";
import { bundleOf } from "../../../../infra/bundle/bundles.ts";
import { functionNames } from "../../../../infra/functions.ts";

/** Packages that record calls, with their requests and errors, in traces. */
const INSTRUMENTATION = /node_modules\/(aws-xray-sdk|@aws-lambda-powertools|@opentelemetry|dd-trace)/;

test.each(functionNames)(
  "the bundle of %s is the same in a run of esbuild of its own, and has no instrumentation that could put personal data into a trace",
  async (name) => {
    const { metafile, outputFiles } = await build({
      ...bundleOptionsOf(name),
      write: false,
      metafile: true,
    });
    const inputs = Object.keys(metafile.inputs);
    expect(inputs).toContain(`functions/${name}/handler.ts`);
    expect(inputs.filter((path) => INSTRUMENTATION.test(path))).toEqual([]);
    expect(outputFiles.map(({ text }) => text)).toEqual([bundleOf(name)]);
  },
);
