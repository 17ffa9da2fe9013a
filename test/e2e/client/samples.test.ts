import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { generateSource } from "oazapfts";
import { afterAll, describe, expect, test } from "vitest";
import * as z from "#zod";
import { openApiDocument } from "../../../shared/contract/openapi/openapi.ts";
import type { Route } from "../../../shared/contract/route.ts";
import { appRoutes, routes } from "../../../shared/contract/routes.ts";
import { type HttpRequest, parseHttpFile } from "../../builders/network/http-file.ts";
import { testWith } from "../../builders/service/is-installed.ts";
import { newApp, packedClient } from "../../builders/service/packed-client.ts";
import { startTestService } from "../../builders/service/service.ts";

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

/** In the repository, so that a generated client finds its runtime in node_modules. */
const generated = join(root, ".local/generated");
mkdirSync(generated, { recursive: true });
const generatedApp = mkdtempSync(join(generated, "client-"));
const folder = mkdtempSync(join(tmpdir(), "client-samples-"));
const app = await newApp(join(folder, "app"), await packedClient(), {});
const service = await startTestService();
const key = await (await service.newCaller()).newKey({ mode: "test" });
afterAll(async () => {
  await service.stop();
  for (const each of [folder, generatedApp]) rmSync(each, { recursive: true, force: true });
});

/** What the compiler says of a folder with a tsconfig.json. */
const compile = async (project: string): Promise<string> =>
  (await run(process.execPath, [tsc, "-p", project]).catch(({ stdout }) => ({ stdout }))).stdout;

/** The calls of each operation that the document shows in a language. */
const callsIn = (language: string) =>
  descriptions.flatMap(({ operationId, description }) =>
    blocks(description, language).map((call) => ({ operationId, call })),
  );
const calls = callsIn("ts");
const operationsOfApps = Object.entries<Route>(appRoutes)
  .flatMap(([name, { document }]) => (document === undefined ? [name] : []))
  .toSorted();
writeFileSync(
  join(app, "samples.ts"),
  `import { AirtimeClient, NotFoundError } from "@airtime-service/client";
const client = new AirtimeClient({ baseUrl: process.env.BASE_URL ?? "", apiKey: process.env.API_KEY ?? "" });
const ran: string[] = [];
${calls
  .map(
    ({ call }) => `try { ${call} ran.push("done"); } catch (error) {
  if (!(error instanceof NotFoundError)) throw error;
  ran.push("not found");
}`,
  )
  .join("\n")}
console.error(ran.join(","));`,
);

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
const snippets = blocks(readFileSync(join(root, "client/README.md"), "utf8"), "ts");

test("every operation of the interface, shown as a call of the client, and every snippet of the client's README compile", async () => {
  expect(calls.map(({ operationId }) => operationId).toSorted()).toEqual(operationsOfApps);
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
  const compilerOptions = { module: "nodenext", target: "es2024", strict: true, noEmit: true, types: ["node"] };
  const typeRoots = [join(root, "node_modules/@types")];
  const options = { ...compilerOptions, typeRoots, allowImportingTsExtensions: true, skipLibCheck: true };
  writeFileSync(join(app, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["*.ts"] }));
  expect(await compile(app)).toBe("");
});

test("every operation of the interface is shown as a call of the client, which runs", async () => {
  const env = { ...process.env, BASE_URL: service.baseUrl, API_KEY: key };
  const { stderr } = await run(process.execPath, [join(app, "samples.ts")], { env });
  const expected = calls.map(({ operationId }) => (operationId === "getTransaction" ? "not found" : "done"));
  expect(stderr.trim().split(",")).toEqual(expected);
});

test("the first snippet of the client's README buys a bundle", async () => {
  const [first = ""] = snippets;
  writeFileSync(join(app, "first.ts"), first.replace("http://127.0.0.1:4010/v1", service.baseUrl));
  const { stdout } = await run(process.execPath, [join(app, "first.ts")], {
    env: { ...process.env, AIRTIME_API_KEY: key },
  });
  expect(stdout).toMatch(/^TEST_\w{26} success 500\nsuccess\n$/);
});

testWith("curl")("every operation of the interface is shown as a call of curl, which runs", async () => {
  const calls = callsIn("sh");
  expect(calls.map(({ operationId }) => operationId).toSorted()).toEqual(operationsOfApps);
  const env = { ...process.env, BASE_URL: service.baseUrl, API_KEY: key };
  for (const { call } of calls) {
    const { stdout } = await run("sh", ["-c", call.replace("curl ", "curl -s ")], { env });
    const answer = z.object({ status: z.boolean(), message: z.string() }).parse(JSON.parse(stdout));
    expect(answer.status || answer.message === "No transaction has this reference", call).toBe(true);
  }
});

/** An app that uses the generated client: wrong names or types do not compile. */
const GENERATED_APP = `
import { buyAirtime, defaults, getTransaction, getWallet, verifyNin } from "./client.ts";

defaults.baseUrl = process.env.BASE_URL ?? "";
defaults.headers = { Authorization: \`Bearer \${process.env.API_KEY}\` };

const bought = await buyAirtime({ network: "mtn", amount: 500, phone_number: "08031234567", reference: "app-1" });
if (bought.status !== 200) throw new Error(JSON.stringify(bought));
const again = await buyAirtime({ network: "mtn", amount: 500, phone_number: "08031234567" }, { idempotencyKey: "app-1" });
const checked = await verifyNin({ nin: "00000000000", is_consent: true, mode: "basic" });
if (checked.status !== 200) throw new Error(JSON.stringify(checked));
const lookedUp = await getTransaction(bought.data.data.transaction.reference);
const refused = await verifyNin({ nin: "0000", is_consent: true });
const wallet = await getWallet();
if (lookedUp.status !== 200 || wallet.status !== 200) throw new Error("A lookup failed");

const born: string | undefined = checked.data.data.result?.date_of_birth;
console.log(JSON.stringify({
  transaction: bought.data.data.transaction,
  again: again.status === 200 && again.data.data.transaction,
  check: checked.data.data.transaction,
  born,
  lookedUp: lookedUp.data.data.transaction.type,
  refused: refused.status === 422 && refused.data.errors,
  balance: wallet.data.data.wallet.balance,
}));
`;

const GENERATED_CONFIG = {
  extends: "../../../tsconfig.json",
  compilerOptions: { exactOptionalPropertyTypes: false, noUnusedLocals: false },
  include: ["*.ts"],
};

test("a client generated from the served document compiles in strict TypeScript, but not with a misspelt field, buys airtime and verifies a NIN", async () => {
  const caller = await service.newCaller({ naira: 1_000 });
  writeFileSync(join(generatedApp, "client.ts"), await generateSource(`${service.baseUrl}/openapi.json`));
  writeFileSync(join(generatedApp, "app.ts"), GENERATED_APP);
  writeFileSync(join(generatedApp, "tsconfig.json"), JSON.stringify(GENERATED_CONFIG));

  writeFileSync(
    join(generatedApp, "misspelt.ts"),
    GENERATED_APP.replace("is_consent: true, mode", "is_consent: true, mood"),
  );
  const errors = (await compile(generatedApp)).match(/^\S.*$/gm);
  expect(errors).toEqual([expect.stringMatching(/misspelt\.ts\(.*'mood'/)]);
  const env = { ...process.env, BASE_URL: service.baseUrl, API_KEY: caller.key };
  const { stdout } = await run(process.execPath, [join(generatedApp, "app.ts")], { env });

  const transaction = {
    status: "success",
    amount: 500,
    description: "MTN airtime for 08031234567",
    type: "airtime",
    caller_reference: "app-1",
    phone_number: "08031234567",
  };
  expect(JSON.parse(stdout)).toEqual({
    transaction: { ...transaction, reference: expect.stringMatching(/^AIRTIME_/) },
    again: JSON.parse(stdout).transaction,
    check: {
      title: "NIN Verification",
      amount: 150,
      reference: expect.stringMatching(/^VERIFY_/),
      status: "success",
      type: "nin_verification",
      caller_reference: null,
    },
    born: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
    lookedUp: "airtime",
    refused: { nin: ["Must be exactly 11 digits"] },
    balance: 350,
  });
  expect(service.simulator.state.purchases.map(({ type }) => type)).toEqual(["airtime", "nin_verification"]);
});

/** Their requests are sent in their order, and the responses compared with the comments. */
const requestsFolder = join(root, "docs/requests");
const files = readdirSync(requestsFolder).filter((name) => name.endsWith(".http"));
const textOf = (file: string): string => readFileSync(join(requestsFolder, file), "utf8");

const responseTo = async ({ method, url, headers, body }: HttpRequest) => {
  const response = await fetch(url, { method, headers, ...(body !== undefined && { body }) });
  await response.arrayBuffer();
  return { status: response.status, code: response.headers.get("x-error-code") };
};

test("docs/requests has one file for each capability", () => {
  const capabilities = ["account", "airtime", "bvn", "catalog", "data", "nin"];
  expect(new Set(files)).toEqual(new Set(capabilities.map((name) => `${name}.http`)));
});

describe.each(files)("docs/requests/%s", (file) => {
  test(`docs/requests/${file} has only the variables base_url and key`, () => {
    const { variables } = parseHttpFile(textOf(file), {});
    expect(variables).toEqual(["base_url", "key"]);
  });

  test(`the requests of docs/requests/${file} get the responses in their comments, and charge nothing`, async () => {
    const caller = await service.newCaller({ naira: 1_000 });
    const key = await caller.newKey({ mode: "test" });
    const { requests } = parseHttpFile(textOf(file), { base_url: service.baseUrl, key });
    expect(requests.length).toBeGreaterThan(2);
    const responses: unknown[] = [];
    for (const request of requests) responses.push([request.title, await responseTo(request)]);
    expect(responses).toEqual(requests.map(({ title, expected }) => [title, expected]));
    expect(await caller.balance()).toBe(1_000);
  });
});

const allRequests = files.flatMap(
  (file) => parseHttpFile(textOf(file), { base_url: "https://api.example.com/v1", key: "k" }).requests,
);

test("docs/requests has a successful request for every route with a key, and every body in it is JSON", () => {
  const working = allRequests.filter(({ expected }) => expected.status === 200);
  const served = ["list-catalog", "purchase", "check-identity", "read-account"];
  const shown = Object.values(routes).filter((route) => served.includes(route.function));
  expect(shown.length).toBeGreaterThanOrEqual(10);
  for (const { method, path } of shown) {
    const pattern = new RegExp(`^${path.replace(/\{\w+\}/, "[\\w-]+")}$`);
    const found = working.find((one) => one.method === method && pattern.test(new URL(one.url).pathname));
    expect(found, `${method} ${path}`).toBeDefined();
  }
  for (const { body } of allRequests) if (body !== undefined) expect(() => JSON.parse(body)).not.toThrow();
});

test("every order of docs/requests has its own reference, except for a replay and a conflict of one purchase, and a copy of a cancelled one", () => {
  const ordered = allRequests.filter(({ method }) => method === "POST");
  const references = ordered.map(({ headers, body = "" }) => headers["idempotency-key"] ?? JSON.parse(body).reference);
  expect(references).not.toContain(undefined);
  const duplicates = references.filter((reference, index) => references.indexOf(reference) < index);
  expect(duplicates).toEqual(["top-up-2002", "bundle-1001", "bundle-1001"]);
});
