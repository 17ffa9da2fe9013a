import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { answers, drops, hangs, refuses, startScriptedServer, succeeds } from "../builders/network/scripted-server.ts";
import { newApp, packedClient } from "../builders/service/packed-client.ts";
import { startTestService, type TestService } from "../builders/service/service.ts";

/**
 * Goal: the packed client works in the same way in every runtime. Method: one app runs in each of them, and its lines
 * are compared. Installed by `npm run test:runtimes`.
 */
const run = promisify(execFile);
/** A program of the packages of this folder, which are those of Linux x64. */
const installed = (path: string): string => fileURLToPath(new URL(`node_modules/${path}`, import.meta.url));

/** Uses every part of the client that depends on its runtime. `lines` are what it saw. */
const APP = `
import { AirtimeClient, verifyWebhook } from "@airtime-service/client";
export const app = async (baseUrl, silentUrl, apiKey, webhook) => {
  const lines = [];
  const clientOf = (baseUrl) => new AirtimeClient({ baseUrl, apiKey, onAttempt: ({ operation, result }) => lines.push(operation + " " + result) });
  const client = clientOf(baseUrl);
  const order = { networkId: 1, planId: 101, phoneNumber: "08031234567" };
  const nameOf = (work) => work.then(({ status }) => status, (error) => error.name);
  lines.push(await nameOf(client.data.purchase(order)));
  lines.push(await nameOf(client.data.purchase({ ...order, phoneNumber: "08000000001" })));
  lines.push(await nameOf(clientOf(silentUrl).data.purchase(order, { signal: AbortSignal.timeout(1) })));
  lines.push((await client.nin.verify({ nin: "00000000000", isConsent: true })).result.firstName);
  await client.catalog.get();
  lines.push((await client.catalog.get({ revalidate: true })).networks[0].code);
  for await (const { status } of client.transactions.list({ type: "nin_verification" })) lines.push(status);
  lines.push((await verifyWebhook(webhook.headers, webhook.body, webhook.secret)).event);
  lines.push(await verifyWebhook(webhook.headers, webhook.body + " ", webhook.secret).catch((error) => error.name));
  return lines;
};
/** The second order meets a connection that ends without an answer, and then a refusal. */
export const reuse = async (baseUrl) => {
  const client = new AirtimeClient({ baseUrl, apiKey: "live_key" });
  const order = { networkId: 1, planId: 101, phoneNumber: "08031234567" };
  await client.data.purchase(order);
  return client.data.purchase(order).then(({ status }) => status, ({ name }) => name);
};
`;

type Call = readonly [name: "app" | "reuse", ...args: readonly unknown[]];
let app: string;

const inProcess =
  (...command: readonly string[]) =>
  async ([name, ...args]: Call): Promise<unknown> => {
    const program = `import("./app.mjs").then((app) => app.${name}(...${JSON.stringify(args)})).then((lines) => console.log(JSON.stringify(lines)))`;
    writeFileSync(join(app, "main.mjs"), program);
    const [file = "", ...options] = command;
    return JSON.parse((await run(file, [...options, "main.mjs"], { cwd: app })).stdout);
  };

/** Cloudflare's runtime, by miniflare in a process of its own. */
const inWorkerd = async ([name, ...args]: Call): Promise<unknown> => {
  const client = readFileSync(join(app, "node_modules/@airtime-service/client/dist/esm/index.js"), "utf8");
  const code = `${APP.replace('"@airtime-service/client"', '"./client.js"')}
export default { fetch: async () => Response.json(await ${name}(...${JSON.stringify(args)})) };`;
  const program = `import { Miniflare } from "miniflare";
const modules = ${JSON.stringify([
    { type: "ESModule", path: "/index.js", contents: code },
    { type: "ESModule", path: "/client.js", contents: client },
  ])};
const miniflare = new Miniflare({ compatibilityDate: "2025-06-01", modulesRoot: "/", modules });
console.log(await (await miniflare.dispatchFetch("http://localhost/")).text());
await miniflare.dispose();`;
  const cwd = fileURLToPath(new URL(".", import.meta.url));
  return JSON.parse((await run(process.execPath, ["--input-type=module", "-e", program], { cwd })).stdout);
};

const runtimes = [
  ["Node", inProcess(process.execPath)],
  ["Deno", inProcess(installed("@deno/linux-x64-glibc/deno"), "run", "--allow-all")],
  ["Bun", inProcess(installed("@oven/bun-linux-x64-baseline/bin/bun"))],
  ["workerd", inWorkerd],
] as const;

let folder: string;
let service: TestService;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "client-runtimes-"));
  app = await newApp(join(folder, "app"), await packedClient(), { "app.mjs": APP });
  service = await startTestService();
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe.each(runtimes)("in %s the client", (_, call) => {
  test("buys, checks, reads, aborts and verifies webhooks", async () => {
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const body = JSON.stringify({ event: "transaction.updated", data: { reference: "DATA_1", status: "success" } });
    const headers = {
      "webhook-id": "evt_1",
      "webhook-timestamp": String(Math.floor(Date.now() / 1_000)),
      "webhook-signature": new Webhook(secret).sign("evt_1", new Date(), body),
    };
    const key = await (await service.newCaller()).newKey({ mode: "test" });
    const silent = await startScriptedServer(hangs);
    expect(await call(["app", service.baseUrl, silent.baseUrl, key, { headers, body, secret }])).toEqual([
      ...["buyData answered", "success"],
      ...["buyData delivery_failed", "DeliveryFailedError"],
      ...["buyData aborted", "OutcomeUnknownError"],
      ...["verifyNin answered", "ADAEZE"],
      ...["listCatalog answered", "listCatalog answered", "mtn"],
      ...["listTransactions answered", "success"],
      ...["transaction.updated", "WebhookVerificationError"],
    ]);
  });

  test("leaves an order unknown that lost its connection and was then refused", async () => {
    const bought = succeeds({ transaction: { reference: "DATA_1", status: "success", type: "data" } });
    const { baseUrl, received } = await startScriptedServer(
      bought,
      drops,
      refuses(403, "account_restricted"),
      answers(500, ""),
    );
    expect(await call(["reuse", baseUrl])).toBe("OutcomeUnknownError");
    expect(received).toHaveLength(3);
  });
});
