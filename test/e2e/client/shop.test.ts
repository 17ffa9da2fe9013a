import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { koboFromNaira } from "../../../shared/contract/values/money.ts";
import { fundWallet } from "../../../shared/ledger/ledger-entry.ts";
import { listenOnLoopback } from "../../../tools/local/loopback.ts";
import { cleanups } from "../../builders/run/cleanups.ts";
import { newApp, packedClient } from "../../builders/service/packed-client.ts";
import { BUY_DATA, ORDER_NAIRA, startTestService, type TestService } from "../../builders/service/service.ts";

/**
 * Goal: the pattern of client/examples/shop.ts loses and repeats no order. Method: the app is killed before each of its
 * statements in turn, and started again; and it runs behind a proxy that sends copies later and mixes up answers.
 */
const SHOP = fileURLToPath(new URL("../../../client/examples/shop.ts", import.meta.url));

/** Kills the process when it has been called as often as CRASH_AT says. */
const CRASH = `let calls = 0; const crash = (): void => { if (++calls === Number(process.env.CRASH_AT)) process.kill(process.pid, "SIGKILL"); };`;

/** The app with a call of `crash` before each statement: a line that follows the end of one or opens a block. */
const withCrashes = (source: string): string => {
  const [imports = "", program = ""] = source.split(/(?<=\} from "@airtime-service\/client";\n)/);
  const lines = program.split("\n");
  let previous = ";";
  const crashing = lines.map((line) => {
    const isStatement =
      /[;{}]$/.test(previous) && /^ *(let|const|await|if|for|return|try|throw|setState|insert|db|console)\b/.test(line);
    if (line.trim() !== "" && !/^\s*(\/\/|\/?\*)/.test(line)) previous = line.trimEnd();
    return isStatement ? `crash(); ${line}` : line;
  });
  return `${imports}${CRASH}\n${crashing.join("\n")}`;
};

let service: TestService;
let folder: string;
let app: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "client-shop-"));
  app = await newApp(join(folder, "app"), await packedClient(), { "shop.ts": withCrashes(readFileSync(SHOP, "utf8")) });
  service = await startTestService();
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

type Run = { readonly key: string; readonly database: string; readonly baseUrl?: string; readonly crashAt?: number };

const runShop = async ({ key, database, baseUrl = service.baseUrl, crashAt }: Run, ...args: readonly string[]) => {
  const child = spawn(process.execPath, ["--no-warnings", join(app, "shop.ts"), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...process.env,
      AIRTIME_BASE_URL: baseUrl,
      AIRTIME_API_KEY: key,
      DATABASE: join(folder, `${database}.db`),
      CRASH_AT: String(crashAt ?? ""),
    },
  });
  const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  const rows = output.split("\n").filter((line) => line !== "");
  return { rows, states: rows.map((row) => row.split(" ")[1]), code, signal };
};

const sentTo = (phoneNumber: string) =>
  service.simulator.state.purchases.filter((purchase) => purchase.phoneNumber === phoneNumber);

test("the example app delivers and pays each order once, whichever statement it is killed before; each run kills it before every third one", async () => {
  const caller = await service.newCaller({ naira: 100_000 });
  // A key may send 60 requests per minute.
  const keys = [caller.key, await caller.newKey(), await caller.newKey(), await caller.newKey()];
  let crashAt = -(Date.now() % 3);
  let orders = 0;
  for (let hasCrashed = true; hasCrashed; ) {
    crashAt += 3;
    const phoneNumber = `0803${String(crashAt).padStart(7, "0")}`;
    const run = { key: keys[crashAt % keys.length] ?? caller.key, database: `shop-${crashAt}` };
    hasCrashed = (await runShop({ ...run, crashAt }, phoneNumber)).signal === "SIGKILL";

    const { rows, code } = await runShop(run);
    expect(code).toBe(0);
    expect(rows.filter((row) => !row.endsWith(" delivered"))).toEqual([]);
    expect(sentTo(phoneNumber), `Killed before statement ${crashAt}`).toHaveLength(rows.length);
    orders += rows.length;
  }
  expect(crashAt).toBeGreaterThan(20);
  expect(orders).toBeGreaterThan(2);
  expect(await caller.balance()).toBe(100_000 - orders * ORDER_NAIRA);
});

type Sent = { readonly path: string; readonly forward: () => Promise<Response> };

/** Passes requests on as `handle` says. */
const startProxy = async (handle: (sent: Sent) => Promise<Response>): Promise<string> => {
  const server = createServer(async (request, response) => {
    const { method = "", url: path = "", headers } = request;
    const body = await text(request);
    const forward = () =>
      fetch(service.baseUrl.replace("/v1", path), {
        method,
        headers: { authorization: headers.authorization ?? "", "content-type": "application/json" },
        ...(body !== "" && { body }),
      });
    const answer = await handle({ path, forward });
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  });
  cleanups.push(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${await listenOnLoopback(server)}/v1`;
};
const isPurchase = ({ path }: Pick<Sent, "path">): boolean => path.endsWith("/purchase");

test("the example app's refused order stays failed when a copy of its request arrives after the wallet was funded", async () => {
  const caller = await service.newCaller({ naira: 0 });
  const copies: Sent[] = [];
  const baseUrl = await startProxy((sent) => {
    if (isPurchase(sent)) copies.push(sent);
    return sent.forward();
  });
  const run = { key: caller.key, database: "copied", baseUrl };
  expect((await runShop(run, "08031110001")).states).toEqual(["failed"]);

  const { accountId } = caller;
  await fundWallet(service.ledger, { accountId, fundingId: accountId, amountKobo: koboFromNaira(5_000) });
  const [copy] = copies;
  expect((await copy?.forward())?.headers.get("x-error-code")).toBe("order_cancelled");
  expect(sentTo("08031110001")).toEqual([]);
  expect((await runShop(run, "08031110001")).states).toEqual(["failed", "delivered"]);
  expect(sentTo("08031110001")).toHaveLength(1);
  expect(await caller.balance()).toBe(5_000 - ORDER_NAIRA);
});

test("the example app leaves a refused order open if its cancellation is lost, and learns that a copy was delivered", async () => {
  const caller = await service.newCaller({ naira: 0 });
  const copies: Sent[] = [];
  const baseUrl = await startProxy(async (sent) => {
    if (isPurchase(sent)) copies.push(sent);
    return sent.path.endsWith("/cancel") ? new Response("Bad gateway", { status: 404 }) : sent.forward();
  });
  const run = { key: caller.key, database: "lost", baseUrl };
  expect((await runShop(run, "08031110002")).states).toEqual(["open"]);

  const { accountId } = caller;
  await fundWallet(service.ledger, { accountId, fundingId: accountId, amountKobo: koboFromNaira(5_000) });
  expect((await copies[0]?.forward())?.status).toBe(200);
  expect((await runShop(run)).states).toEqual(["delivered"]);
  expect(sentTo("08031110002")).toHaveLength(1);
  expect(await caller.balance()).toBe(5_000 - ORDER_NAIRA);
});

test("the example app does not take the answer of another order for its own", async () => {
  const caller = await service.newCaller({ naira: 5_000 });
  const body = { network_id: 1, plan_id: 101, phone_number: "08031110003", reference: "another-order" };
  const other = await service.call("POST", BUY_DATA, { key: caller.key, body });
  let purchases = 0;
  const baseUrl = await startProxy(async (sent) => {
    if (isPurchase(sent)) purchases += 1;
    if (!isPurchase(sent) || purchases > 1) return sent.forward();
    return Response.json(other.body, { headers: other.headers });
  });
  expect((await runShop({ key: caller.key, database: "crossed", baseUrl }, "08031110004")).states).toEqual([
    "delivered",
  ]);
  expect(sentTo("08031110004")).toHaveLength(1);
});

test("the example app gives up what is open: what was placed is delivered, and the rest never will be", async () => {
  const caller = await service.newCaller({ naira: 5_000 });
  const copies: Sent[] = [];
  const baseUrl = await startProxy(async (sent) => {
    copies.push(sent);
    // The request of the first order arrives, and that of the second is on its way for long.
    if (copies.length === 1) await sent.forward();
    return new Response("Forbidden", { status: 403 });
  });
  const run = { key: caller.key, database: "given-up", baseUrl };
  await runShop(run, "08031110005");
  expect((await runShop({ ...run, baseUrl }, "08031110006")).states).toEqual(["open", "open"]);

  const { states } = await runShop({ key: caller.key, database: "given-up" }, "cancel");
  expect(states).toEqual(["delivered", "failed"]);
  for (const copy of copies) await copy.forward();
  expect([sentTo("08031110005"), sentTo("08031110006")].map(({ length }) => length)).toEqual([1, 0]);
  expect(await caller.balance()).toBe(5_000 - ORDER_NAIRA);
});
