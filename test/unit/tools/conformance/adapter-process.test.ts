import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { AdapterProcess } from "../../../../tools/conformance/adapter-process.ts";
import type { Command } from "../../../../tools/conformance/protocol.ts";
import { temporaryFolder } from "../../../builders/run/cleanups.ts";
import { until } from "../../../builders/run/until.ts";

const command = (id: string): Command => ({
  ...{ id, reference: `kit-${id}`, phone_number: "08030000001" },
  ...{ do: "buy", kind: "airtime", network: "mtn", amount: 100 },
});
let adapter: AdapterProcess | undefined;
afterEach(() => adapter?.end());
const start = (program: string): AdapterProcess => {
  adapter = new AdapterProcess(program, {});
  return adapter;
};
/** Answers each command with the process id as reference. */
const ANSWERS = `while read -r line; do id=\${line#*:\\"}; echo "{\\"id\\":\\"\${id%%\\"*}\\",\\"result\\":\\"success\\",\\"reference\\":\\"$$\\"}"; done`;

test("an adapter that is killed is started again, and gets each command without an answer again", async () => {
  const once = `[ -e "$MARK" ] && exec sh -c '${ANSWERS.replaceAll("'", "'\\''")}'; printf '{"id":"1","res'; touch "$MARK"; sleep 600`;
  const mark = join(temporaryFolder(), "started");
  adapter = new AdapterProcess(once, { MARK: mark });
  const answers = [adapter.buy(command("1")), adapter.buy(command("2"))];
  await until("the adapter wrote a part of an answer", () => existsSync(mark));
  adapter.kill();
  expect(await Promise.all(answers)).toMatchObject([
    { id: "1", result: "success" },
    { id: "2", result: "success" },
  ]);
});

test("an adapter keeps working after a kill without an open command", async () => {
  const running = start(ANSWERS);
  const { reference } = await running.buy(command("1"));
  running.kill();
  const again = await running.buy(command("2"));
  expect(again).toMatchObject({ id: "2", result: "success" });
  expect(again.reference).not.toBe(reference);
});

test.each([
  ["exits by itself", "read -r line; exit 3", "exited by itself, with exit code 3"],
  ["writes a line that is no JSON", "read -r line; echo hello; read -r line", "no answer to an open command: hello"],
  [
    "answers what was not asked",
    `echo '{"id":"9","result":"success"}'; read -r line; read -r line`,
    "no answer to an open command",
  ],
])("an adapter that %s fails the run", async (_, program, message) => {
  const running = start(program);
  void running.buy(command("1"));
  await expect(running.failure).rejects.toThrow(message);
});
