import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { projectRoot } from "../../infra/bundle/project-root.ts";
import { firstLimitTable, limitTable, remedyTable } from "../../tools/scale/tables.ts";
import { mappedBundle } from "../../tools/trace/traced.ts";
import { cleanups } from "../builders/run/cleanups.ts";
import { type Checkout, checkOutThisTree } from "../deploy/checkout.ts";
import { run, startNpm } from "./npm.ts";

/**
 * Goal: no script of package.json has stopped working. Method: each runs in a short form, with its real command; those
 * that run tests are in tests.script.ts. What other checks start is in neither: package-scripts.test.ts.
 */

/** Gives a copy of the tree all packages but those of one scope. */
const linkPackages = (tree: string, without: string): void => {
  const packages = join(projectRoot, "node_modules");
  rmSync(join(tree, "node_modules"));
  mkdirSync(join(tree, "node_modules"));
  for (const name of readdirSync(packages)) {
    if (name !== without) symlinkSync(join(packages, name), join(tree, "node_modules", name));
  }
};

/** A Maven that does its work, and writes twelve lines of warnings. Returns the folder for `PATH`. */
const writeMavenThatWarns = (tree: string): string => {
  const maven = execFileSync("which", ["mvn"], { encoding: "utf8" }).trim();
  const warning = 'for line in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "[WARNING] attempt $line" >&2; done';
  const programs = join(tree, "programs");
  mkdirSync(programs);
  writeFileSync(join(programs, "mvn"), `#!/bin/sh\n${warning}\nexec ${maven} "$@"\n`, { mode: 0o755 });
  return programs;
};

test("npm start without dynoxide runs DynamoDB Local, prints at most ten lines before it is ready, and keeps its tables over a kill -9; npm run admin operates it, and Ctrl-C ends it", async () => {
  const tree = checkOutThisTree();
  cleanups.push(tree.remove);
  linkPackages(tree.folder, "@dynoxide");
  const SERVICE_FILE = join(tree.folder, "service.json");
  const PATH = `${writeMavenThatWarns(tree.folder)}:${process.env.PATH}`;
  const options = { cwd: tree.folder, env: { PORT: "0", DATA_DIR: join(tree.folder, "data"), SERVICE_FILE, PATH } };
  const startLocal = async () => {
    const service = startNpm(["start", "--silent"], options);
    await service.untilPrinted("Ctrl-C");
    const [beforeReady = ""] = service.output().split("The service is ready");
    expect(beforeReady).toContain("Starting DynamoDB (DynamoDB Local)");
    expect(beforeReady.trim().split("\n").length).toBeLessThanOrEqual(10);
    return { service, key: JSON.parse(readFileSync(SERVICE_FILE, "utf8")).accounts[0].live_key };
  };
  const { service: killed, key } = await startLocal();
  killed.signal("SIGKILL");
  await killed.exitCode;
  const { service, key: keptKey } = await startLocal();
  expect(keptKey).toBe(key);
  const listed = await run("admin", ["accounts", "list", "--json"], options);
  expect(JSON.parse(listed)).toMatchObject({
    accounts: [
      { name: "sample", status: "active" },
      { name: "demo", status: "active" },
    ],
  });
  service.signal("SIGINT");
  expect(await service.exitCode).toBe(0);
  expect(service.output()).toContain("Stopping");
});

describe("in a copy of this tree, which it may change", () => {
  let tree: Checkout;
  beforeAll(() => {
    tree = checkOutThisTree();
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
    const file = "shared/contract/values/money.ts";
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

test("npm run site builds pages, here only some of them", async () => {
  expect(await run("site", ["--short"])).toMatch(/^\d+ pages in /m);
});

test("npm run release -- --dry-run says what a release lacks, and builds its files with their checksums", async () => {
  const output = await run("release", ["--dry-run"]);
  expect(output).toMatch(/^Release \d+\.\d+\.\d+, a dry run$/m);
  expect(output).toMatch(/^ok +one version$/m);
  for (const file of [
    /airtime-data-identity-service-.*\.tgz/,
    /airtime-service-client-.*\.tgz/,
    /airtime\.cdx\.json/,
    /provenance\.json/,
    /release-notes\.md/,
  ])
    expect(output).toMatch(file);
  execFileSync("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: join(projectRoot, ".local/release/files") });
});

test("npm run trace names the lines of a deployed function's stack trace", async () => {
  const lengths = (await mappedBundle("purchase")).code.split("\n").map(({ length }) => length);
  const longest = Math.max(...lengths);
  const position = `${lengths.indexOf(longest) + 1}:${Math.round(longest / 2)}`;
  const trace = await run("trace", ["purchase", `at handler (file:///var/task/index.mjs:${position})`]);
  expect(trace).toMatch(/^at handler \((?!.*index\.mjs)\S+\.[jt]s:\d+:\d+\)$/m);
});

test("npm run statements measures a statement and an import", async () => {
  const table = await run("statements", ["2000"]);
  for (const work of ["statement of 1,020 lines", "statement of 2,041 lines", "import of 2,000 rows"])
    expect(table).toContain(`| ${work} |`);
});

test("npm run costs and npm run scale print their tables", async () => {
  const costs = await run("costs");
  for (const row of ["| live purchase | 1.00 |", "| NAT gateways |"]) expect(costs).toContain(row);
  const scale = await run("scale");
  for (const table of [firstLimitTable(), limitTable(), remedyTable()]) expect(scale).toContain(table);
});
