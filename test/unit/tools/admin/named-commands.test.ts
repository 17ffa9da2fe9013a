import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { expect, test } from "vitest";
import { actionNames } from "../../../../shared/contract/actions/actions.ts";
import { doctorChecks } from "../../../../tools/admin/doctor-checks.ts";
import { adminProgram } from "../../../../tools/admin/program.ts";
import { projectFiles } from "../../../builders/run/project-files.ts";

/**
 * Goal: each command that a message or a document names exists, with its options. Method: whole command lines are parsed
 * by the command line itself, without running anything; of a command within a sentence its name and its options are
 * looked up.
 */
const program = (await adminProgram({ isQuiet: true, isComplete: true })).configureOutput({ writeOut: () => {} });
const leaves = new Map<string, Command>();
const addLeaves = (command: Command, path: readonly string[]): void => {
  for (const each of command.commands) addLeaves(each, [...path, each.name()]);
  if (command.commands.length > 0) return;
  leaves.set(path.join(" "), command);
  command.action(() => {});
};
addLeaves(program, []);
const topLevel = [...leaves.keys()].filter((name) => !name.includes(" "));
const groups = [...new Set([...leaves.keys()].filter((name) => name.includes(" ")).map((name) => name.split(" ")[0]))];

/** What is wrong with a whole line, as the command line says it. Placeholders are values, and no file is read. */
const lineProblem = (line: string): string | undefined => {
  const typed = line.replace(/ [<>] \S+$/, "").replaceAll(/<\w+>|\b[A-Z]{4,}\b/g, "1");
  const words = [...typed.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word = ""]) => quoted ?? word);
  try {
    program.parse(words, { from: "user" });
    return undefined;
  } catch (error) {
    return error instanceof Error && error.message !== "(outputHelp)" ? error.message : undefined;
  }
};
type Mention = { readonly name: string; readonly options: readonly string[]; readonly withoutValue: readonly string[] };

/** The commands that a text names behind one of these patterns, each with the options behind it in the same clause. */
const mentionsIn = (text: string, before: string): readonly Mention[] => {
  const command = `(?:(?:${groups.join("|")})(?: [a-z][a-z-]*){1,2}|(?:${topLevel.join("|")})(?![\\w-]))`;
  const found = [...text.matchAll(new RegExp(`${before}(${command})`, "g"))];
  return found.map(({ 1: words = "", index, 0: { length } }, at) => {
    const clause = text.slice(index + length, found[at + 1]?.index).split(/[.;:](?:\s|$)|["`\n]/, 1)[0] ?? "";
    const [group, verb, third] = words.split(" ");
    const long = [group, verb, third].join(" ");
    const name = leaves.has(long) ? long : [group, verb].filter(Boolean).join(" ");
    const named = (pattern: RegExp): readonly string[] => clause.match(pattern) ?? [];
    return {
      name,
      options: named(/(?<![\w-])--[a-z][a-z-]*/g),
      withoutValue: named(/(?<![\w-])--[a-z][a-z-]*(?! [^-\s])(?![a-z-])/g),
    };
  });
};
const mentionProblem = ({ name, options }: Mention): string | undefined => {
  const command = leaves.get(name);
  if (command === undefined) return `no command ${name}`;
  const known = [...command.options, ...program.options].map(({ long }) => long);
  const unknown = options.find((option) => !known.includes(option) && option !== "--help");
  return unknown && `${name} has no option ${unknown}`;
};

const files = (...patterns: readonly string[]): readonly string[] =>
  projectFiles(...patterns).filter((file) => !/^(test|releases)\/|CHANGELOG\.md$/.test(file));

const documents = files("**/*.md").map((file) => [file, readFileSync(file, "utf8")] as const);
/** Without comments, which nobody sees who runs a command. */
const sources = files("shared/**/*.ts", "tools/**/*.ts", "functions/**/*.ts", "infra/**/*.ts", "console/**/*.ts*").map(
  (file) => [file, readFileSync(file, "utf8").replaceAll(/^ *(?:\/\*\*|\*|\/\/).*$/gm, "")] as const,
);

const wholeLines = documents.flatMap(([file, text]) =>
  [
    ...text.replaceAll(/\\\n\s*/g, "").matchAll(/^ *(?:npm run (?:-s )?admin --|npx airtime admin) (.+?)(?: +#.*)?$/gm),
  ].map(([, line = ""]) => ({ file, line })),
);

test("each command line of the documents is one that the command line takes", () => {
  expect(wholeLines.length).toBeGreaterThan(150);
  const problems = wholeLines.map((each) => ({ ...each, problem: lineProblem(each.line) }));
  expect(problems.filter(({ problem }) => problem !== undefined)).toEqual([]);
});

test("the example in the help of each command is one that the command line takes", () => {
  const examples = [...leaves].map(([name, command]) => {
    const help: string[] = [];
    command.configureOutput({ writeOut: (text) => void help.push(text) }).outputHelp();
    return { name, line: /^ *npm run (?:-s )?admin -- (.+)$/m.exec(help.join(""))?.[1] ?? "" };
  });
  expect(examples.filter(({ name, line }) => !line.startsWith(name) || lineProblem(line) !== undefined)).toEqual([]);
});

test("each command that a sentence of a document names exists, with the options that it names", () => {
  // Tables of permissions name actions, of which not all are commands.
  const others: readonly string[] = [...actionNames, ...Object.keys(doctorChecks)];
  const spans = documents
    .flatMap(([file, text]) => [...text.matchAll(/`([^`\n]+)`/g)].map(([, span = ""]) => ({ file, span })))
    .filter(({ span }) => !others.includes(span))
    .map(({ file, span }) => ({ file, span: span.replace(/^.*\badmin (?:-- )?/, "") }));
  const named = spans.flatMap(({ file, span }) => mentionsIn(span, "^").map((mention) => ({ file, ...mention })));
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter((each) => mentionProblem(each))).toEqual([]);
});

test("each command that a message names exists, with the options that it names and their values", () => {
  const before =
    "(?:(?:admin(?: --)?|[Rr]un|[Uu]se|[Ss]ee|[Tt]hen|Or) |(?<=[Rr]un [a-z-]+ [a-z-]+ and )|command: ['\"`])";
  const named = sources.flatMap(([file, text]) => mentionsIn(text, before).map((mention) => ({ file, ...mention })));
  expect(named.length).toBeGreaterThan(40);
  const lacksValue = ({ name, withoutValue }: Mention): boolean =>
    (leaves.get(name)?.options ?? []).some(({ long, required }) => required && withoutValue.includes(long ?? ""));
  expect(named.filter((each) => mentionProblem(each) || lacksValue(each))).toEqual([]);
});
