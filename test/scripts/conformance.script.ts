import { execSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { projectRoot } from "../../infra/bundle/project-root.ts";
import { type KillableService, startKillableService } from "../../tools/conformance/killable-service.ts";
import { runClient } from "../../tools/conformance/run.ts";
import { expectPassed, run, startNpm } from "./npm.ts";

/**
 * Goal: each language's client passes its own tests, and the conformance kit with some orders; docs/conformance.md has the
 * runs with 500. A language whose tools this machine has not is skipped.
 */
test("npm run conformance passes the TypeScript client", async () => {
  const adapter = "node tools/conformance/clients/typescript.mjs";
  const scorecard = await run("conformance", ["--client", adapter, "--orders", "5", "--seed", "1", "--json"]);
  expect(JSON.parse(scorecard.split("\n").find((line) => line.startsWith("{")) ?? "")).toMatchObject({
    conforms: true,
    ordered: 5,
    delivered: 5,
  });
});

test("npm run conformance ends with exit code 2 and a reason if it cannot run", async () => {
  const { exitCode, output } = startNpm(["run", "--silent", "conformance", "--", "--orders", "1"]);
  expect(await exitCode).toBe(2);
  expect(output()).toContain("Name the command that starts the client.");
});

type Language = {
  readonly name: string;
  /** What `probe` needs: it fails without. */
  readonly tools: string;
  readonly probe: string;
  /** Builds the adapter into a folder, from what the client's tests have compiled, and returns its command. */
  readonly build: (into: string) => string;
  readonly processes: number;
};
const shell = (line: string): void => void execSync(line, { cwd: projectRoot, stdio: ["ignore", "ignore", "inherit"] });

const languages: readonly Language[] = [
  {
    name: "Go",
    tools: "Go",
    probe: "go version",
    build: (into) => {
      shell(`cd clients/go && go build -o ${into}/go-adapter ./conformance`);
      return `${into}/go-adapter`;
    },
    processes: 2,
  },
  {
    name: "Java",
    tools: "Maven",
    probe: "mvn --version",
    build: () => {
      const classpath = ["dependency/*", "classes", "test-classes"].map((path) => `clients/java/target/${path}`);
      // It is started and killed often: quick to start, and without the threads of a server.
      return `java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "${classpath.join(":")}" airtime.conformance.Adapter`;
    },
    processes: 1,
  },
  {
    name: "Python",
    tools: "Python with pip",
    probe: "python3 -m pip --version",
    build: (into) => {
      const pip = "python3 -m pip install --quiet --root-user-action=ignore --no-compile";
      shell(`${pip} --target ${into}/python httpx==0.28.1`);
      return `PYTHONPATH=${into}/python python3 clients/python/conformance.py`;
    },
    processes: 2,
  },
  {
    name: "PHP",
    tools: "PHP with Guzzle",
    probe: `php -r "require 'GuzzleHttp/autoload.php';"`,
    build: () => "php clients/php/conformance.php",
    processes: 10,
  },
];

describe("the clients in other languages", () => {
  const folder = mkdtempSync(join(tmpdir(), "conformance-"));
  let tested: string;
  let service: KillableService;
  beforeAll(async () => {
    tested = await run("test:clients");
    service = await startKillableService(join(folder, "service"));
  });
  afterAll(async () => {
    await service?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("npm run test:clients tests the clients in other languages", () => {
    expectPassed(tested);
  });

  for (const [index, { name, tools, probe, build, processes }] of languages.entries()) {
    const isHere = spawnSync("sh", ["-c", probe]).status === 0;
    const title = `the ${name} client passes the conformance kit`;
    test.skipIf(!isHere)(isHere ? title : `${title} (skipped: no ${tools})`, async () => {
      const orders = 8;
      const client = build(folder);
      const scorecard = await runClient(service, {
        client,
        orders,
        seed: 1,
        processes,
        firstNumber: 1_000 * (index + 1),
      });
      expect(scorecard).toMatchObject({ ordered: orders, delivered: orders, double: 0, findings: [] });
      expect(scorecard.charged_naira).toBe(scorecard.delivered_naira);
    });
  }
});
