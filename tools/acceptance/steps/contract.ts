import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Stage } from "../context.ts";
import { AcceptanceError, found, type Outcome, skipped } from "../outcome.ts";
import { requestCounts } from "../request-counts.ts";
import type { SetUp } from "./set-up.ts";

const CONFIG = "test/acceptance/vitest.config.ts";
const CLOSING_LINE = /^(\d+) passed, (\d+) failed/m;

/** Runs the contract suite of the tests against the stage, with test keys. The package does not contain the tests. */
export const runContractSuite = async ({ run, baseUrl, outputs }: Stage, { address }: SetUp): Promise<Outcome> => {
  if (!existsSync(CONFIG))
    return skipped("the suite is in the repository of the service, where each release passed it");
  const folder = await mkdtemp(join(tmpdir(), "acceptance-"));
  try {
    const countFile = join(folder, "requests");
    const { AccessTable: accessTable, LedgerTable: ledgerTable, ChecksumKeySecretId: checksumKeyId } = outputs;
    const target = JSON.stringify({ baseUrl, address, accessTable, ledgerTable, checksumKeyId, countFile });
    const vitest = ["vitest", "run", "--config", CONFIG];
    const { code, stdout, stderr } = await run("env", [`ACCEPTANCE_TARGET=${target}`, ...vitest]);
    requestCounts.requests += Number(await readFile(countFile, "utf8").catch(() => 0));
    const [, passed, failed] = CLOSING_LINE.exec(stdout) ?? [];
    if (code === 0 && failed === "0") return found(`${passed} tests passed`);
    if (failed === undefined)
      throw new AcceptanceError(`the suite did not run: ${(stdout + stderr).trim().slice(-800)}`);
    const titles = new Set([...stdout.matchAll(/^ *FAIL +(.*)$/gm)].map(([, title]) => title));
    throw new AcceptanceError(`${failed} tests failed: ${[...titles].join("; ")}`);
  } finally {
    await rm(folder, { recursive: true });
  }
};
