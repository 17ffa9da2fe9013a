import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "#zod";
import { projectRoot } from "../../infra/bundle/project-root.ts";
import { freePort } from "../../tools/local/loopback.ts";
import { cleanups, temporaryFolder } from "../builders/run/cleanups.ts";
import { until } from "../builders/run/until.ts";
import type { ProcessGroup } from "../builders/service/process-group.ts";
import { startNpm } from "./npm.ts";

/** Goal: the tutorial works as it is. Method: its commands are run in two terminals, and its outputs compared. */
const blocks = [...readFileSync(join(projectRoot, "docs/tutorial.md"), "utf8").matchAll(/^```(\w+)\n(.*?)^```/gms)].map(
  ([, language = "", text = ""]) => ({ language, text }),
);

/** A shell that keeps its variables and jobs from one block to the next. */
const openTerminal = (home: string) => {
  const shell = spawn("bash", ["-eu"], { cwd: projectRoot, env: { ...process.env, HOME: home }, detached: true });
  let output = "";
  let errors = "";
  let blocksRun = 0;
  shell.stdout.on("data", (data) => {
    output += data;
  });
  shell.stderr.on("data", (data) => {
    errors += data;
  });
  const ended = once(shell, "close");
  cleanups.push(() => void shell.kill("SIGKILL"));
  return {
    /** Runs a block. */
    run: async (commands: string): Promise<void> => {
      const mark = `block ${++blocksRun} has run`;
      shell.stdin.write(`${commands}\necho; echo ${mark}\n`);
      await until(commands, () => output.includes(mark) || shell.exitCode !== null);
      expect(shell.exitCode, `${commands}\n${output}\n${errors}`).toBe(null);
    },
    /** What was printed since it was last taken, also by what runs in the background. */
    take: (): string => {
      const taken = output;
      output = "";
      return taken;
    },
    close: () => {
      shell.stdin.end();
      return ended;
    },
  };
};

/** The shop's lines, with one reference in all of them. */
const shopLines = (text: string): readonly string[] =>
  [...text.matchAll(/^[0-9a-f-]{36} (\w+)$/gm)].map(([, state]) => `reference ${state}`);
const transactionsAnswer = z.object({
  data: z.object({ transactions: z.array(z.object({ status: z.string(), amount: z.number() })) }),
});
const walletAnswer = z.object({ data: z.object({ wallet: z.object({ balance: z.number() }) }) });

test("the tutorial's shop sells three bundles, once each, although it and the service are killed", async () => {
  const folder = temporaryFolder();
  const SERVICE_FILE = join(folder, "service.json");
  const env = { PORT: String(await freePort()), DATA_DIR: join(folder, "data"), SERVICE_FILE };
  const terminal = openTerminal(folder);
  let service: ProcessGroup | undefined;
  let compared = 0;
  for (const { language, text } of blocks) {
    if (language === "text") {
      expect(shopLines(terminal.take())).toEqual(shopLines(text));
      compared += 1;
    } else if (text.includes("npm start")) {
      service = startNpm(["start"], { env });
      await service.untilPrinted("The service is ready");
    } else if (text === "kill -9 %1\n") {
      service?.signal("SIGKILL");
      await service?.exitCode;
    } else {
      await terminal.run(text.replaceAll("$SERVICE/.local/service.json", SERVICE_FILE));
    }
  }
  expect(compared).toBe(3);

  const [transactions, wallet] = terminal
    .take()
    .split(/(?=\{"status":true)|\n/)
    .filter((line) => line.startsWith("{"));
  expect(transactionsAnswer.parse(JSON.parse(transactions ?? "")).data.transactions).toEqual(
    new Array(3).fill({ status: "success", amount: 500 }),
  );
  expect(walletAnswer.parse(JSON.parse(wallet ?? "")).data.wallet.balance).toBe(98_500);
  await terminal.close();
});
