import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { projectRoot } from "../../infra/bundle/bundle.ts";
import { mappedBundle } from "../../tools/trace/traced.ts";
import { type Checkout, checkOutThisTree } from "../deploy/checkout.ts";

/**
 * Goal: no script of package.json has stopped working. Method: each runs in a short form, with its real command. What
 * other checks start is not here: started-by.ts.
 */
type Ended = { readonly code: number | null; readonly output: string };
type Options = { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> };

const startNpm = (args: readonly string[], { cwd = projectRoot, env = {} }: Options = {}) => {
  const child = spawn("npm", args, { cwd, env: { ...process.env, ...env, NO_COLOR: "1" }, detached: true });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
  const ended = once(child, "close").then(([code]): Ended => ({ code, output }));
  return { pid: child.pid, output: () => output, ended };
};

/** `npm run NAME -- ARGS`; resolves with the output of a success. */
const run = async (name: string, args: readonly string[] = [], options: Options = {}): Promise<string> => {
  const { code, output } = await startNpm(["run", "--silent", name, "--", ...args], options).ended;
  expect(code, output).toBe(0);
  return output;
};

/** Expects that the tests of a script ran and passed. */
const expectPassed = (output: string): void => expect(output).toMatch(/^[1-9]\d* passed, 0 failed/m);

const folder = mkdtempSync(join(tmpdir(), "scripts-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("npm start serves, npm run admin operates it, and Ctrl-C ends it", async () => {
  const SERVICE_FILE = join(folder, "service.json");
  const service = startNpm(["start"], { env: { PORT: "0", DATA_DIR: join(folder, "data"), SERVICE_FILE } });
  try {
    await expect.poll(service.output, { timeout: 120_000 }).toContain("Ctrl-C");
    const listed = await run("admin", ["accounts", "list", "--json"], { env: { SERVICE_FILE } });
    expect(JSON.parse(listed)).toMatchObject({ accounts: [{ name: "demo", status: "active" }] });
  } finally {
    if (service.pid !== undefined) process.kill(-service.pid, "SIGINT");
  }
  expect((await service.ended).output).toContain("Stopping");
});

describe("in a copy of this tree, which it may change", () => {
  let tree: Checkout;
  beforeAll(async () => {
    tree = await checkOutThisTree();
    // What was unpacked once, such as the browser.
    symlinkSync(join(projectRoot, ".local"), join(tree.folder, ".local"));
  });
  afterAll(() => tree.remove());

  const committed = (file: string): string => readFileSync(join(projectRoot, file), "utf8");
  /** Spoils a file, and expects that the script restores it. */
  const expectRestored = async (file: string, spoilt: string, script: string, ...args: readonly string[]) => {
    expect(spoilt).not.toBe(committed(file));
    writeFileSync(join(tree.folder, file), spoilt);
    await run(script, args, { cwd: tree.folder });
    expect(readFileSync(join(tree.folder, file), "utf8")).toBe(committed(file));
  };

  test("npm run format formats", async () => {
    const file = "shared/contract/money.ts";
    await expectRestored(file, committed(file).replaceAll(";\n", "  ;\n"), "format", file);
  });

  test("npm run openapi writes the document and the client's types", async () => {
    writeFileSync(join(tree.folder, "client/src/contract-types.ts"), "");
    await expectRestored("docs/openapi.json", "{}", "openapi");
    expect(readFileSync(join(tree.folder, "client/src/contract-types.ts"), "utf8")).toBe(
      committed("client/src/contract-types.ts"),
    );
  });

  test("npm run tables writes the generated parts of the documents", async () => {
    const file = "docs/architecture.md";
    const spoilt = committed(file).replace(/(<!-- layers: [^>]+-->\n)[^<]+/, "$1old\n");
    await expectRestored(file, spoilt, "tables");
  });

  test("npm run screenshots takes the picture of the page that is named", async () => {
    const picture = join(tree.folder, "docs/console/accounts.png");
    rmSync(picture);
    await run("screenshots", ["accounts"], { cwd: tree.folder });
    expect(statSync(picture).size).toBeGreaterThan(10_000);
    expect(existsSync(join(tree.folder, "docs/console/today.png"))).toBe(true);
  });

  test("npm run bench measures each part", async () => {
    const output = await run("bench", ["--short"], { cwd: tree.folder });
    for (const part of ["purchase", "cold-start", "warm", "growth", "memory"]) expect(output).toContain(`\n${part}: `);
    expect(output).toContain("deliver-webhook is measured");
  });
});

test("npm run client packs the client", async () => {
  expect(await run("client")).toMatch(/airtime-service-client-.*\.tgz \([\d,]+ bytes\)/);
});

test("npm run trace names the lines of a deployed function's stack trace", async () => {
  const lengths = (await mappedBundle("purchase")).code.split("\n").map(({ length }) => length);
  const longest = Math.max(...lengths);
  const position = `${lengths.indexOf(longest) + 1}:${Math.round(longest / 2)}`;
  const trace = await run("trace", ["purchase", `at handler (file:///var/task/index.mjs:${position})`]);
  expect(trace).toMatch(/^at handler \((?!.*index\.mjs)\S+\.[jt]s:\d+:\d+\)$/m);
});

test("npm run costs and npm run scale print their tables", async () => {
  expect(await run("costs")).toContain("| live purchase |");
  expect(await run("scale")).toContain("| purchases a second |");
});

test("npm run test:faults runs a scenario of the crash points with every fault", async () => {
  const only = ["crash-points", "-t", "a purchase beyond the wallet's balance"];
  expectPassed(await run("test:faults", only, { env: { STRICT_SETTING: "perfect" } }));
});

test("npm run test:calls compares calls of each command", async () => {
  expectPassed(await run("test:calls", [], { env: { CALLS: "20" } }));
});

test("npm run test:mutants kills a seeded mutant", async () => {
  expect(await run("test:mutants", ["the debit does not check"])).toContain("1 of 1 seeded mutants were killed");
});

test("npm run test:load counts the calls of invalid keys", async () => {
  const env = { LOAD_SHARE: "0.004", LOAD_RESULTS: join(folder, "load.json") };
  expectPassed(await run("test:load", ["invalid-keys", "-t", "costs no DynamoDB call"], { env }));
});

test("npm run test:mutation mutates a file, and most mutants are killed", async () => {
  const [, score = "0"] = /All files +\| +([\d.]+)/.exec(await run("test:mutation", ["--short"])) ?? [];
  expect(Number(score)).toBeGreaterThan(50);
});

test("npm run test:runtimes runs the packed client in every runtime", async () => {
  expectPassed(await run("test:runtimes"));
});

test("npm run test:dynamodb-local runs an integration test on Amazon's emulator", async () => {
  expectPassed(await run("test:dynamodb-local", ["test/integration/shared/ledger/get-item.test.ts"]));
});
