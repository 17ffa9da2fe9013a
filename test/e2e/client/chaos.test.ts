import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { projectRoot } from "../../../infra/bundle/project-root.ts";
import { type KillableService, startKillableService } from "../../../tools/conformance/killable-service.ts";
import { runClient } from "../../../tools/conformance/run.ts";
import { conforms } from "../../../tools/conformance/scorecard.ts";
import { newApp, packedClient } from "../../builders/service/packed-client.ts";
import { upstreamKind } from "../../builders/upstream/upstream-kind.ts";

/**
 * Goal: the packed client passes the conformance kit, and each of the naive clients beside the kit fails it. The kit's
 * faults are in docs/conformance.md.
 */
let folder: string;
let service: KillableService;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "chaos-"));
  service = await startKillableService(join(folder, "service"), upstreamKind);
});
afterAll(async () => {
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const KIT = "tools/conformance";
const source = (name: string): string => readFileSync(join(projectRoot, KIT, name), "utf8");

test("80 orders placed through a proxy that loses, repeats, mixes up and replaces messages and sends copies later, while client and service are killed, are each delivered and charged exactly once", async () => {
  const adapter = source("clients/typescript.mjs").replace("../../../client/src/index.ts", "@airtime-service/client");
  const app = await newApp(join(folder, "app"), await packedClient(), {
    "kit/adapter.mjs": source("adapter.mjs"),
    "kit/clients/typescript.mjs": adapter,
  });
  const run = await runClient(service, {
    client: `${process.execPath} ${join(app, "kit/clients/typescript.mjs")}`,
    orders: 80,
    seed: Date.now() % 1_000_000,
    processes: 8,
  });
  console.log(run);
  expect(run).toMatchObject({ ordered: 80, delivered: 80, double: 0, lost: 0, wrongly_reported: 0, findings: [] });
  expect(run.charged_naira).toBe(run.delivered_naira);
  expect(run.unknown, "Some outcomes were unknown for a while").toBeGreaterThan(0);
  expect(run.ordered_again, "Some orders were refused for the balance").toBeGreaterThan(0);
  expect(run.client_kills).toBeGreaterThan(0);
  expect(run.service_kills).toBeGreaterThan(0);
});

const naive = [
  "new-reference",
  "unreadable-is-new-order",
  "timeout-is-failed",
  "repeating-library",
  "believed-refusal",
] as const;
/** As many of them fail it in a run, each run others. */
const NAIVE_CLIENTS = Number(process.env.NAIVE_CLIENTS ?? 2);
const first = Date.now() % naive.length;
const chosen = [...naive, ...naive].slice(first, first + NAIVE_CLIENTS);

const NAIVE_ORDERS = 30;
/** Whether a copy comes after a refusal depends on when the wallets are funded, so this client gets further orders. */
const roundsOf = (name: (typeof naive)[number]): number => (name === "believed-refusal" ? 3 : 1);

test.each(chosen)("the naive client %s does not conform", async (name) => {
  const runRound = (round: number) =>
    runClient(service, {
      client: `${process.execPath} ${KIT}/naive/${name}.mjs`,
      orders: NAIVE_ORDERS,
      seed: round,
      processes: 2,
      firstNumber: 1_000 + naive.indexOf(name) * 100 + (round - 1) * NAIVE_ORDERS,
    });
  let run = await runRound(1);
  for (let round = 2; conforms(run) && round <= roundsOf(name); round += 1) run = await runRound(round);
  console.log(run);
  expect(conforms(run)).toBe(false);
  // A copy that comes after a refusal can also be a wrong report alone.
  if (name !== "believed-refusal") expect(run.double, "Some orders were delivered twice").toBeGreaterThan(0);
  expect(run.charged_naira).toBe(run.delivered_naira);
  if (name === "timeout-is-failed") expect(run.findings.join()).toContain("failed (timeout), but");
});

test("a run with a client that answers nothing ends without progress, and its orders are lost and not decided", async () => {
  const run = await runClient(service, {
    client: "exec cat >/dev/null",
    orders: 2,
    seed: 1,
    processes: 1,
    firstNumber: 2_000,
    stalledMs: 2_000,
  });
  expect(run).toMatchObject({
    ...{ ordered: 2, delivered: 0, double: 0, lost: 2, wrongly_reported: 0 },
    findings: ["kit-2000 was never delivered, and not decided", "kit-2001 was never delivered, and not decided"],
  });
});
