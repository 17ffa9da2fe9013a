import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, test, vi } from "vitest";
import * as z from "#zod";
import { builtins } from "../../../../infra/bundle/builtins.ts";
import { bundleOptions, bundleOptionsOf } from "../../../../infra/bundle/bundle-options.ts";
import { bundleOf, sdkBundle } from "../../../../infra/bundle/bundles.ts";
import { SDK_FILE } from "../../../../infra/bundle/sdk-file.ts";
import { functionNames } from "../../../../infra/functions.ts";
import { purchaseRoutes, routes } from "../../../../shared/contract/routes.ts";
import { secretTable } from "../../../../shared/platform/secret-table.ts";
import { LAMBDA_FLAGS } from "../../../builders/aws/lambda-flags.ts";

/** Packages that record calls, with their requests and errors, in traces. */
const INSTRUMENTATION = /node_modules\/(aws-xray-sdk|@aws-lambda-powertools|@opentelemetry|dd-trace)/;

test("the bundles have no instrumentation that could put personal data into a trace: none is installed", () => {
  const { packages } = z
    .object({ packages: z.record(z.string(), z.unknown()) })
    .parse(JSON.parse(readFileSync("package-lock.json", "utf8")));
  expect(Object.keys(packages)).toContain("node_modules/@middy/core");
  expect(Object.keys(packages).filter((path) => INSTRUMENTATION.test(path))).toEqual([]);
});

test.each(["console-api", "serve-console"] as const)(
  "the bundle of %s is the same in a run of esbuild of its own",
  async (name) => {
    const { outputFiles } = await build({ ...bundleOptionsOf(name), write: false });
    expect(outputFiles.map(({ text }) => text)).toEqual([bundleOf(name)]);
  },
);

test("the bundle of purchase has these packages, and the schemas of no other function's routes", async () => {
  const built = await build({ ...bundleOptionsOf("purchase"), write: false, metafile: true });
  const text = bundleOf("purchase");
  expect(built.outputFiles.map((file) => file.text)).toEqual([text]);
  const inputs = Object.values(built.metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
  const packages = inputs.flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  expect([...new Set(packages)].toSorted()).toEqual([
    "@aws-sdk/util-dynamodb",
    "@middy/core",
    "@smithy/core",
    "@smithy/node-http-handler",
    "zod",
  ]);
  expect(inputs.filter((path) => path.includes("zod/v4/classic"))).toEqual([]);
  const bundled = Object.entries(routes).flatMap(([name, { path }]) => (text.includes(`"${path}"`) ? [name] : []));
  expect(new Set(bundled)).toEqual(new Set(Object.keys(purchaseRoutes)));
  expect(inputs).not.toContain("shared/contract/identity.ts");
  expect(inputs.filter((path) => /outcome-message|openapi|actions\//.test(path))).toEqual([]);
});

test.each(functionNames)("the bundle of %s does not have the table of secrets", (name) => {
  expect(bundleOf(name).includes(secretTable["replay-key"].description)).toBe(false);
});

test("esbuild wraps only node:http in purchase: it would keep all of a module, and have V8 parse it twice", async () => {
  const { outputFiles } = await build({ ...bundleOptionsOf("purchase"), write: false, minify: false });
  const wrapped = outputFiles.flatMap(({ text }) => text.match(/__(esm|commonJS)\(\{\s*"[^"]*"/g));
  expect(wrapped).toEqual([expect.stringMatching(/^__commonJS.*<data:text\/javascript,module\.exports/s)]);
});

test.each(functionNames)(
  "the bundle of %s imports no built-in module, of which Node would read every export",
  (name) => {
    const imported = bundleOf(name).matchAll(/\b(?:from|import) ?\(?"([\w:/]+)"/g);
    expect([...imported].flatMap(([, path = ""]) => (isBuiltin(path) ? [path] : []))).toEqual([]);
  },
);

test("a bundle can import a built-in module by its names, as default, as a whole, and again by another file, and reads what it uses of it", async () => {
  const sources = {
    "index.js": `
      import https, { Agent } from "node:https";
      import * as http from "node:http";
      import { request } from "node:http";
      import { join } from "./names.js";
      const { Agent: late } = await import("node:http");
      const same = (module, name) => process.getBuiltinModule(module)[name];
      console.log(
        https === process.getBuiltinModule("node:https"),
        Agent === same("node:https", "Agent"),
        http.request === same("node:http", "request"),
        request === same("node:http", "request"),
        late === same("node:http", "Agent"),
        join === same("node:path", "join"),
      );`,
    "names.js": 'import "node:url"; export { join } from "node:path";',
  };
  const folder = mkdtempSync(join(tmpdir(), "bundle-"));
  for (const [name, source] of Object.entries(sources)) writeFileSync(join(folder, name), source);
  const outfile = join(folder, "index.mjs");
  await build({ ...bundleOptions, entryPoints: [join(folder, "index.js")], outfile });
  const printed = execFileSync(process.execPath, [...LAMBDA_FLAGS, outfile]);
  expect(readFileSync(outfile, "utf8")).not.toContain("dirname");
  rmSync(folder, { recursive: true });
  expect(printed.toString().trim()).toBe("true true true true true true");
});

test("what bundles have in place of built-in modules is the same with each version of Node, and so are they", async () => {
  const inThisNode = process.getBuiltinModule;
  vi.spyOn(process, "getBuiltinModule").mockImplementation((name: string) => ({
    ...inThisNode(name),
    inAnotherVersion: () => name,
  }));
  vi.resetModules();
  const inAnother = await import("../../../../infra/bundle/builtins.ts");
  vi.restoreAllMocks();
  expect(inAnother.builtins).toEqual(builtins);
});

test("a bundle that uses of a whole built-in module what is not among its exports is not built", async () => {
  const contents = 'import * as os from "node:os"; console.log(os.cpus());';
  await expect(build({ ...bundleOptions, stdin: { contents }, write: false, logLevel: "silent" })).rejects.toThrow(
    '"cpus"',
  );
});

test.each(["console-api", "copy-audit"] as const)(
  "%s loads the SDK with the flags with which Lambda starts Node",
  (name) => {
    const folder = mkdtempSync(join(tmpdir(), "bundle-"));
    // Its first statement loads the SDK; the next one fails without variables.
    writeFileSync(join(folder, "index.mjs"), bundleOf(name));
    writeFileSync(join(folder, SDK_FILE), sdkBundle());
    const script = 'import("./index.mjs").catch((error) => console.log(error.code ?? error.message.split("\\n")[0]))';
    const printed = execFileSync(process.execPath, [...LAMBDA_FLAGS, "--eval", script], { cwd: folder, env: {} });
    rmSync(folder, { recursive: true });
    expect(printed.toString().trim()).toBe("The environment is not complete.");
  },
);
