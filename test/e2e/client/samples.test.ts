import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "#zod";
import { openApiDocument } from "../../../shared/contract/openapi.ts";
import { testWith } from "../../builders/is-installed.ts";
import { newApp, packedClient } from "../../builders/packed-client.ts";
import { startTestService, type TestService } from "../../builders/service.ts";

/** Goal: what the documents show works as it is. Method: it is taken out of them, compiled and run. */
const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../", import.meta.url));
const tsc = join(root, "node_modules/typescript/bin/tsc");

/** The code blocks of a language in a Markdown text. */
const blocks = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, "g"))].map(([, block = ""]) => block);

const operations = z
  .record(
    z.string(),
    z.record(z.string(), z.object({ operationId: z.string(), description: z._default(z.string(), "") })),
  )
  .parse(openApiDocument().paths);
const descriptions = Object.values(operations).flatMap((methods) =>
  Object.values(methods).map(({ operationId, description }) => ({ operationId, description })),
);

let service: TestService;
let folder: string;
let app: string;
let key: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "client-samples-"));
  app = await newApp(join(folder, "app"), await packedClient(join(folder, "client")), {});
  service = await startTestService();
  key = await (await service.newCaller()).newKey({ mode: "test" });
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

const compile = async (): Promise<string> => {
  const compilerOptions = { module: "nodenext", target: "es2024", strict: true, noEmit: true, types: ["node"] };
  const typeRoots = [join(root, "node_modules/@types")];
  const options = { ...compilerOptions, typeRoots, allowImportingTsExtensions: true };
  writeFileSync(join(app, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["*.ts"] }));
  return (await run(process.execPath, [tsc, "-p", app]).catch(({ stdout }) => ({ stdout }))).stdout;
};

test("every operation of the interface is shown as a call of the client, which compiles and runs", async () => {
  const calls = descriptions.flatMap(({ description }) => blocks(description, "ts"));
  expect(calls).toHaveLength(11);
  writeFileSync(
    join(app, "samples.ts"),
    `import { AirtimeClient, NotFoundError } from "@airtime-service/client";
const client = new AirtimeClient({ baseUrl: process.env.BASE_URL ?? "", apiKey: process.env.API_KEY ?? "" });
const ran: string[] = [];
${calls
  .map(
    (call) => `try { ${call} ran.push("done"); } catch (error) {
  if (!(error instanceof NotFoundError)) throw error;
  ran.push("not found");
}`,
  )
  .join("\n")}
console.error(ran.join(","));`,
  );
  expect(await compile()).toBe("");
  const env = { ...process.env, BASE_URL: service.baseUrl, API_KEY: key };
  const { stderr } = await run(process.execPath, [join(app, "samples.ts")], { env });
  expect(stderr.trim().split(",")).toEqual([...new Array(8).fill("done"), "not found", "done", "done"]);
});

testWith("curl")("every operation of the interface is shown as a call of curl, which runs", async () => {
  const calls = descriptions.flatMap(({ description }) => blocks(description, "sh"));
  expect(calls).toHaveLength(11);
  const env = { ...process.env, BASE_URL: service.baseUrl, API_KEY: key };
  for (const call of calls) {
    const { stdout } = await run("sh", ["-c", call.replace("curl ", "curl -s ")], { env });
    const answer = z.object({ status: z.boolean(), message: z.string() }).parse(JSON.parse(stdout));
    expect(answer.status || answer.message === "No transaction has this reference", call).toBe(true);
  }
});

/** What the snippets of the README take from the app around them. */
const SURROUNDINGS = `
declare const client: import("@airtime-service/client").AirtimeClient;
declare const baseUrl: string;
declare const apiKey: string;
declare const request: Request;
declare const settle: (reference: string, status: "success" | "failed") => Promise<void>;
declare const setState: (reference: string, state: string) => void;
declare const isLasting: (error: unknown) => boolean;
declare const reference: string;
declare const repeated: boolean;
declare const order: import("@airtime-service/client").DataOrder;
`;

test("every snippet of the client's README compiles, and the first one buys a bundle", async () => {
  const snippets = blocks(readFileSync(join(root, "client/README.md"), "utf8"), "ts");
  expect(snippets.length).toBeGreaterThan(6);
  const imports = `import { ServiceError, OutcomeUnknownError, WaitEndedError, AirtimeClient } from "@airtime-service/client";`;
  snippets.forEach((snippet, index) => {
    const isWhole = snippet.startsWith("import ");
    const own = isWhole ? snippet.split("\n\n")[0] : imports;
    const body = isWhole ? snippet.slice(own?.length) : snippet;
    // A snippet's own names hide those of its surroundings.
    writeFileSync(
      join(app, `snippet${index}.ts`),
      `${own}\n${SURROUNDINGS}\nexport const run = async () => {\n${body}\n};\n`,
    );
  });
  expect(await compile()).toBe("");

  const [first = ""] = snippets;
  writeFileSync(join(app, "first.ts"), first.replace("http://127.0.0.1:4010/v1", service.baseUrl));
  const { stdout } = await run(process.execPath, [join(app, "first.ts")], {
    env: { ...process.env, AIRTIME_API_KEY: key },
  });
  expect(stdout).toMatch(/^TEST_\w{26} success 500\nsuccess\n$/);
});
