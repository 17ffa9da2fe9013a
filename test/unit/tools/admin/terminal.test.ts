import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { consentLine, headerLine, verifyExport } from "../../../../shared/identity/consent-export.ts";
import { consentPk, transactionPk } from "../../../../shared/ledger/schema.ts";
import { footerLine } from "../../../../shared/platform/chained-lines.ts";
import { runAdmin } from "../../../../tools/admin/run.ts";
import { onTerminal, printMessage, printResult } from "../../../../tools/admin/terminal.ts";
import { table } from "../../../../tools/admin/views/print.ts";
import { testTerminal } from "../../../builders/service/admin.ts";

const codePoints = (first: number, last = first): readonly string[] =>
  Array.from({ length: last - first + 1 }, (_, offset) => String.fromCodePoint(first + offset));

/** C0 but the line feed, C1, bidirectional marks, line and paragraph separators, invisible ones, half a pair. */
const HOSTILE = [
  ...[...codePoints(0x00, 0x09), ...codePoints(0x0b, 0x1f), ...codePoints(0x7f, 0x9f)],
  ...[...codePoints(0x20_2a, 0x20_2e), ...codePoints(0x20_66, 0x20_69), ...codePoints(0x20_0e, 0x20_0f)],
  ...[...codePoints(0x06_1c), ...codePoints(0x20_28, 0x20_29), ...codePoints(0x20_0b), ...codePoints(0xfe_ff)],
  ...[...codePoints(0xe_00_41), "\ud800"],
];
const hostile = `a${HOSTILE.join("b")}c`;

const expectHarmless = (printed: string): void => {
  for (const character of HOSTILE) expect(printed.includes(character), JSON.stringify(character)).toBe(false);
  expect(printed).toContain("\\u001b");
  expect(printed).toContain("\\u202e");
};

async function* partsOf(...parts: readonly string[]): AsyncGenerator<string> {
  yield* parts;
}

test("no part of a result and no message has a control character of stored text", async () => {
  const { terminal, output } = testTerminal();
  await onTerminal(terminal, async () => {
    await printResult(hostile);
    await printResult(partsOf("first", hostile));
    await printResult(table([hostile], [[`${hostile}\r\nforged line`]]));
    printMessage(hostile);
  });
  const { stdout, stderr } = await output();
  expectHarmless(stdout);
  expectHarmless(stderr);
  expect(stdout).not.toContain("\nforged line");
});

test("a result in JSON is the same value after its control characters were escaped", async () => {
  const { terminal, output } = testTerminal();
  const value = { name: hostile, [hostile]: ["\n", hostile] };
  await onTerminal(terminal, () => printResult(JSON.stringify(value)));
  const { stdout } = await output();
  expectHarmless(stdout);
  expect(JSON.parse(stdout)).toEqual(value);
});

test.each([
  ["in text", []],
  ["in JSON", ["--json"]],
])("an error that quotes control characters escapes them %s", async (_, flags) => {
  for (const args of [[`no\u001b[2J\u202ecommand`], ["accounts", "show", "\u001b\u202e"]]) {
    const { terminal, output } = testTerminal({ SERVICE_FILE: "/none/\u001b[2J\u202e.json" });
    expect(await onTerminal(terminal, () => runAdmin([...args, ...flags]))).toBe(2);
    const { stdout, stderr } = await output();
    const printed = `${stdout}${stderr}`;
    expect(printed).not.toBe("");
    expect([printed.includes("\u001b"), printed.includes("\u202e")]).toEqual([false, false]);
  }
});

test("an exported consent has no control character, and its file is verified to the byte after it was printed", async () => {
  const to = "2026-11-21T00:00:00.000Z";
  const header = headerLine({ account: "acc_1", from: null, to, exported_at: to });
  const { line, end } = consentLine(header.end, {
    pk: consentPk({ pk: transactionPk("0".repeat(26)) }),
    subject: "hash",
    subject_key: "mrk-1",
    account_id: "acc_1",
    key_id: "key_1",
    mode: "live",
    operation: "nin_verification",
    extent: "basic",
    purpose: hostile,
    created_at: to,
    request_id: "request-1",
  });
  expectHarmless(line);
  const file = [header.line, line, footerLine(end)].join("\n");
  const { terminal, output } = testTerminal();
  await onTerminal(terminal, () => printResult(file));
  const { stdout } = await output();
  expect(verifyExport(stdout)).toMatchObject({ isWhole: true, end: { count: 1 } });
});

test("help whose reader ends before all is printed is no error", async () => {
  const ended = Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
  const stdout = new Writable({ write: (_chunk, _encoding, done) => done(ended) });
  expect(await onTerminal({ ...testTerminal().terminal, stdout }, () => runAdmin(["wallet", "fund", "--help"]))).toBe(
    0,
  );
});

test("a command line with an unknown option, or without a required one, is refused with a hint at --help", async () => {
  for (const args of [
    ["wallet", "fund", "acc_1", "--amount", "5"],
    ["wallet", "fund", "acc_1", "5"],
  ]) {
    const { terminal, output } = testTerminal();
    expect(await onTerminal(terminal, () => runAdmin(args))).toBe(2);
    expect((await output()).stderr).toMatch(
      /^(Unknown option '.*\.\n|--id: Is required\. )--help lists what the command takes\.\n$/,
    );
  }
});

test("a command that is nearly one is refused with the one that may be meant", async () => {
  const { terminal, output } = testTerminal();
  expect(await onTerminal(terminal, () => runAdmin(["walet"]))).toBe(2);
  expect((await output()).stderr).toContain("Unknown command 'walet'. Did you mean wallet?\n");
});

test("a result that meets a full disk is not a command that failed, and an error meets standard error instead", async () => {
  const { terminal, output } = testTerminal();
  const fullDisk = () => new Writable({ write: (_text, _encoding, done) => done(new Error("ENOSPC")) });
  await expect(onTerminal({ ...terminal, stdout: fullDisk() }, () => printResult("{}"))).rejects.toThrow(
    "The command is done, but its result could not be written (ENOSPC).",
  );
  const args = ["no-such-command", "--json"];
  expect(await onTerminal({ ...terminal, stdout: fullDisk() }, () => runAdmin(args))).toBe(2);
  expect((await output()).stderr).toContain("Unknown command 'no-such-command'");
});
