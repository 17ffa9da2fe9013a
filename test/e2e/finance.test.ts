import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "#zod";
import { datesOf, monthAfter } from "../../shared/contract/values/time-zone.ts";
import { type OperatedService, startOperatedService } from "../builders/service/admin.ts";
import { documentSections, type Names, runDocumentCommand } from "../builders/service/document-commands.ts";
import { isInstalled } from "../builders/service/is-installed.ts";

/**
 * Goal: a finance person can do what docs/finance.md says with the sample books of `npm start`, and sees what it shows.
 * Method: the page's commands are run as written, one section after the other, and what they print is compared with the
 * page; ids, hashes and times are not. The page's months are those of November 2026.
 */
let service: OperatedService;
let names: Names;
/** What the page calls 2026-11: two months after the one that the sample books have closed. */
let thisMonth: string;
beforeAll(async () => {
  service = await startOperatedService({ sampleBooks: true });
  const accounts = z.object({ accounts: z.array(z.object({ account_id: z.string(), name: z.string() })) });
  const periods = z.object({ periods: z.tuple([z.object({ month: z.string() })]) });
  const [closed] = periods.parse(await service.adminJson(["periods", "list"])).periods;
  thisMonth = monthAfter(closed.month, 2);
  const listed = accounts.parse(await service.adminJson(["accounts", "list"])).accounts;
  writeStatement();
  names = { account: listed.find(({ name }) => name === "sample")?.account_id ?? "" };
});
afterAll(() => service.stop());

/** The page's text as of today. Not every month has 30 days. */
const ofToday = (text: string): string =>
  text.replaceAll(/\b2026-11-30\b|\b2026-(09|10|11)\b/g, (date) =>
    date === "2026-11-30" ? datesOf(thisMonth).to : monthAfter(thisMonth, Number(date.slice(-2)) - 11),
  );

/** What is another in each run, in its own length. */
const withoutChance = (text: string): string =>
  text
    .replaceAll(/\bacc_[0-9a-f]{18}\b/g, `acc_${"0".repeat(18)}`)
    .replaceAll(/\b[0-9a-f]{64}\b/g, "0".repeat(64))
    .replaceAll(/\brow-[\w-]{22}/g, `row-${"0".repeat(22)}`)
    .replaceAll(/\bpr_[0-9a-f]{10}\b/g, `pr_${"0".repeat(10)}`)
    .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "2026-01-01T00:00:00.000Z");

/** What a command prints that a later one names. */
const named = [
  ["rule", /\bpr_[0-9a-f]{10}\b/],
  ["case", /\brow-[\w-]+/],
] as const;

/** Runs a line of the page; resolves with what it prints. */
const run = async (line: string): Promise<string> => {
  if (line.startsWith("npm ")) return (await runDocumentCommand(service, line, names)) ?? "";
  return execFileSync("/bin/sh", ["-c", line], { cwd: service.folder, encoding: "utf8" });
};

const page = documentSections("docs/finance.md");
const sections = page.map(({ heading, blocks }) => ({
  heading,
  blocks: blocks.filter(({ language }) => language === "sh" || language === "text"),
}));

/** The page's columns, and its statement with one order that is not ours. */
const writeStatement = (): void => {
  const blocks = page.flatMap((section) => section.blocks);
  for (const [language, file] of [
    ["json", "map.json"],
    ["csv", "statement.csv"],
  ]) {
    const text = blocks.find((block) => block.language === language)?.text ?? "";
    writeFileSync(join(service.folder, file ?? ""), ofToday(text));
  }
};

test("the page closes a month in ten steps, and shows what its commands print", () => {
  const [first] = sections.filter(({ heading }) => heading === "Close a month");
  expect(first?.blocks.filter(({ language }) => language === "text").length).toBeGreaterThan(4);
});

test.for(sections.filter(({ blocks }) => blocks.length > 0))(
  'the commands of the section "$heading" work as written, and print what it shows',
  async ({ blocks }) => {
    let printed: string | undefined = "";
    for (const { language, text } of blocks) {
      if (language === "text") {
        if (printed !== undefined) expect(withoutChance(printed.trimEnd())).toBe(withoutChance(ofToday(text)));
        continue;
      }
      if (text.includes("\nhledger ") && !isInstalled("hledger")) {
        printed = undefined;
        continue;
      }
      const outputs: string[] = [];
      for (const line of ofToday(text).split("\n")) {
        const output = (await run(line)).trimEnd();
        outputs.push(output);
        for (const [name, pattern] of named)
          names = { ...names, [name]: pattern.exec(output)?.[0] ?? names[name] ?? "" };
      }
      printed = outputs.filter((output) => output !== "").join("\n\n");
    }
  },
);
