import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createContext, Script } from "node:vm";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newApp, type PackedClient, packedClient } from "../../../builders/service/packed-client.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** KB in gzip of what an app loads. CommonJS has a table of its exports besides. */
const sizes = [
  ["dist/esm/index.js", 8],
  ["dist/cjs/index.js", 8.5],
] as const;

/** The newest TypeScript, and the last one with a JavaScript API and `moduleResolution` "node": the generator's. */
const compilers = {
  7: join(root, "node_modules/typescript/bin/tsc"),
  5: createRequire(import.meta.resolve("oazapfts")).resolve("typescript/bin/tsc"),
};

let folder: string;
let client: PackedClient;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "client-build-"));
  client = await packedClient();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const built = (name: string): string => readFileSync(join(client.contents, name), "utf8");

describe("the packed client", () => {
  test.each(sizes)("has in gzip, as %s, at most %d KB", (name, maxKb) => {
    const bytes = gzipSync(built(name), { level: 9 }).length;
    expect(bytes).toBeGreaterThan(1_000);
    expect(bytes).toBeLessThanOrEqual(maxKb * 1_024);
  });

  test("has no dependencies and imports nothing", () => {
    expect(JSON.parse(built("package.json"))).not.toHaveProperty("dependencies");
    expect(built("dist/esm/index.js")).not.toMatch(/\bimport\b|\brequire\b/);
    expect(built("dist/cjs/index.js")).not.toMatch(/\brequire\(/);
  });

  test("has every file that its README links to", () => {
    const links = [...built("README.md").matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path = ""]) => path);
    expect(links).toContain("examples/shop.ts");
    const { stdout } = spawnSync("tar", ["tzf", client.file], { encoding: "utf8" });
    expect(stdout.split("\n")).toEqual(expect.arrayContaining(links.map((path) => `package/${path}`)));
  });

  test("has the version that its change log names first, unless that is not released", () => {
    const { version } = JSON.parse(built("package.json"));
    expect([version, "Unreleased"]).toContain(/^## (\S+)/m.exec(built("CHANGELOG.md"))?.[1]);
  });

  test("has no problem that publint finds", async () => {
    const publint = join(root, "node_modules/publint/src/cli.js");
    const { stdout } = await run(process.execPath, [publint, client.file, "--strict"]);
    expect(stdout).toContain("All good!");
  });

  test("has types that are found and right in every module resolution, as Are The Types Wrong finds", async () => {
    const program = `
      import { readFileSync } from "node:fs";
      import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
      const { types, problems } = await checkPackage(createPackageFromTarballData(readFileSync(process.argv[1])));
      console.log(JSON.stringify({ types: types && types.kind, problems }));`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program, client.file], { cwd: root });
    expect(JSON.parse(stdout)).toEqual({ types: "included", problems: [] });
  });

  const app = `
import { AirtimeClient, DeliveryFailedError, OutcomeUnknownError, verifyWebhook, type Order } from "@airtime-service/client";

const client = new AirtimeClient({ baseUrl: "https://example.com/v1", apiKey: "test_key" });
export const buy = async (): Promise<Order | string> => {
  try {
    const order = await client.data.purchase(
      { networkId: 1, planId: 101, phoneNumber: "08031234567" },
      { reference: "order-1", signal: AbortSignal.timeout(1_000) },
    );
    const final = await client.transactions.wait(order.reference, { timeoutMs: 120_000 });
    const status: "success" | "failed" = final.status;
    return status === "success" ? order : (final.errorCode ?? "");
  } catch (error) {
    if (error instanceof OutcomeUnknownError) return error.reference;
    if (error instanceof DeliveryFailedError && error.code === "delivery_failed") return error.transactionReference ?? "";
    throw error;
  }
};
export const check = async () => {
  const basic = await client.nin.verify({ nin: "00000000000", isConsent: true });
  const advanced = await client.bvn.verify({ bvn: "00000000000", isConsent: true, mode: "advanced" });
  const name: string | null | undefined = basic.result?.firstName;
  return [name, advanced.result?.residentialAddress];
};
export const receive = async (request: Request): Promise<string> => {
  const event = await verifyWebhook(request.headers, await request.text(), "whsec_AAAA");
  if (event.event === "transaction.updated") return event.data.reference;
  if (event.event === "webhook.test") return event.data.accountId;
  const other: Readonly<Record<string, unknown>> = event.data;
  return event.name + String(other.reference);
};
export const list = async (): Promise<number> => {
  let sum = 0;
  for await (const transaction of client.transactions.list({ status: "success", from: new Date(0) })) sum += transaction.amount;
  return sum;
};
`;
  const wrong: Readonly<Record<string, string>> = {
    "a misspelt field": "client.data.purchase({ networkID: 1, planId: 101, phoneNumber: '' })",
    "a reference among the fields":
      "client.data.purchase({ networkId: 1, planId: 1, phoneNumber: '', reference: 'a' })",
    "consent that is not true": "client.nin.verify({ nin: '', isConsent: false })",
    "a field of another result": "client.nin.verify({ nin: '', isConsent: true }).then(({ result }) => result?.photo)",
  };
  const wrongApp = `
import { AirtimeClient } from "@airtime-service/client";
const client = new AirtimeClient({ baseUrl: "https://example.com/v1", apiKey: "test_key" });
${Object.values(wrong)
  .map((call) => `// @ts-expect-error\nvoid ${call};`)
  .join("\n")}
`;
  const settings: readonly (readonly [string, 5 | 7, object])[] = [
    ["bundler", 7, { module: "esnext", moduleResolution: "bundler", lib: ["es2022", "dom"] }],
    ["nodenext", 7, { module: "nodenext", lib: ["es2022", "dom"] }],
    // Are The Types Wrong has the other resolutions with an earlier TypeScript.
    ["node", 5, { module: "esnext", moduleResolution: "node", lib: ["es2022", "dom"] }],
  ];

  test("type-checks strictly, libraries included, in apps of every module resolution, and refuses wrong calls", async () => {
    const app1 = await newApp(join(folder, "types"), client, {
      "app.ts": app,
      "wrong.ts": wrongApp,
      "commonjs.cts": app,
    });
    for (const [name, version, options] of settings) {
      const compilerOptions = {
        ...options,
        target: "es2022",
        strict: true,
        // The package's types are checked, TypeScript's own are not.
        skipLibCheck: false,
        skipDefaultLibCheck: true,
        noEmit: true,
        types: [],
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
      };
      const files = ["app.ts", "wrong.ts", ...(name === "nodenext" ? ["commonjs.cts"] : [])];
      writeFileSync(join(app1, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
      const checked = await run(process.execPath, [compilers[version], "-p", app1]).catch(({ stdout }) => ({ stdout }));
      expect(checked.stdout, `${name}, TypeScript ${version}`).toBe("");
    }
  });

  test("works when it is installed with npm, and imported or required", async () => {
    const program = `console.log(typeof client.AirtimeClient, typeof client.verifyWebhook);`;
    const cwd = join(folder, "formats");
    mkdirSync(cwd);
    const modules = {
      "app.mjs": `import * as client from "@airtime-service/client"; ${program}`,
      "app.cjs": `const client = require("@airtime-service/client"); ${program}`,
    };
    for (const [name, text] of Object.entries({ "package.json": "{}", ...modules }))
      writeFileSync(join(cwd, name), text);
    await run("npm", ["install", "--offline", "--no-audit", "--no-fund", client.file], { cwd });
    for (const file of ["app.mjs", "app.cjs"]) {
      const { stdout } = await run(process.execPath, [join(cwd, file)]);
      expect(stdout).toBe("function function\n");
    }
  });

  test("needs nothing of its runtime but what the web platform has", async () => {
    const { AbortController, AbortSignal, clearTimeout, crypto, fetch, performance, setTimeout } = globalThis;
    const { atob, Headers, structuredClone, TextDecoder, TextEncoder, URL, URLSearchParams } = globalThis;
    const requests: unknown[] = [];
    const web = {
      ...{ AbortController, AbortSignal, atob, clearTimeout, crypto, Headers, performance, setTimeout },
      ...{ structuredClone, TextDecoder, TextEncoder, URL, URLSearchParams },
      fetch: (url: string, init: { readonly body: string }) => {
        requests.push(url);
        const { reference } = JSON.parse(init.body);
        const transaction = { reference: "TEST_1", status: "success", type: "data", caller_reference: reference };
        return Promise.resolve(Response.json({ status: true, message: "", data: { transaction } }));
      },
      module: { exports: {} },
    };
    expect(fetch).toBeDefined();
    const buy = `new module.exports.AirtimeClient({ baseUrl: "https://example.com/v1", apiKey: "test_key" })
      .data.purchase({ networkId: 1, planId: 101, phoneNumber: "08031234567" })`;
    const context = createContext({ ...web, exports: web.module.exports });
    new Script(built("dist/cjs/index.js")).runInContext(context);
    await expect(new Script(buy).runInContext(context)).resolves.toMatchObject({ reference: "TEST_1" });
    expect(requests).toHaveLength(1);
  });
});
