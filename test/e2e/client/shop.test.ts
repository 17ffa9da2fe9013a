import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newApp, packedClient } from "../../builders/packed-client.ts";
import { ORDER_NAIRA, startTestService, type TestService } from "../../builders/service.ts";

/**
 * Goal: the pattern of client/examples/shop.ts loses and repeats no order. Method: the app is killed before each of its
 * statements in turn, and started again.
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
  const packageFile = await packedClient(join(folder, "client"));
  app = await newApp(join(folder, "app"), packageFile, { "shop.ts": withCrashes(readFileSync(SHOP, "utf8")) });
  service = await startTestService();
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("the example app delivers and pays each order once, whichever statement it is killed before", async () => {
  const caller = await service.newCaller({ naira: 100_000 });
  const run = async (crashAt: number, ...args: readonly string[]) => {
    const child = spawn(process.execPath, ["--no-warnings", join(app, "shop.ts"), ...args], {
      stdio: ["ignore", "pipe", "inherit"],
      env: {
        ...process.env,
        AIRTIME_BASE_URL: service.baseUrl,
        AIRTIME_API_KEY: keys[crashAt % keys.length],
        DATABASE: join(folder, `shop-${crashAt}.db`),
        CRASH_AT: args.length > 0 ? String(crashAt) : "",
      },
    });
    const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, "exit")]);
    return { output, code, signal };
  };
  // A key may send 60 requests per minute.
  const keys = [caller.key, await caller.newKey(), await caller.newKey(), await caller.newKey()];
  let crashAt = 0;
  let orders = 0;
  for (let hasCrashed = true; hasCrashed; ) {
    crashAt += 1;
    const phoneNumber = `0803${String(crashAt).padStart(7, "0")}`;
    hasCrashed = (await run(crashAt, phoneNumber)).signal === "SIGKILL";

    const { output, code } = await run(crashAt);
    expect(code).toBe(0);
    const rows = output.split("\n").filter((line) => line !== "");
    expect(rows.filter((row) => !row.endsWith(" delivered"))).toEqual([]);
    const sent = service.simulator.state.purchases.filter((purchase) => purchase.phoneNumber === phoneNumber);
    expect(sent, `Killed before statement ${crashAt}`).toHaveLength(rows.length);
    orders += rows.length;
  }
  expect(crashAt).toBeGreaterThan(20);
  expect(orders).toBeGreaterThan(10);
  expect(await caller.balance()).toBe(100_000 - orders * ORDER_NAIRA);
});
