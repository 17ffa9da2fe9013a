import { createHash } from "node:crypto";
import * as z from "#zod";
import { escapeControls } from "../contract/values/control-characters.ts";

/**
 * A file of JSON Lines: a header, a line for each record, a footer. Each record has its number and the SHA-256 of the
 * line before it, and the footer that of the last line, so a line cannot be changed, removed, added or moved without a
 * trace. The keys of each line have a fixed order.
 */

const hashOf = (line: string): string => createHash("sha256").update(line).digest("hex");

/** The end of a chain: how many records it has, and the hash of its last line. The footer of the whole file. */
export const chainEndSchema = z.strictObject({ count: z.int(), hash: z.string() });
export type ChainEnd = z.infer<typeof chainEndSchema>;

export type ChainedLine = { readonly line: string; readonly end: ChainEnd };

/** The fields in the schema's order. A terminal that prints the line stays as it is, and so do the line's bytes. */
const lineOf = (schema: z.ZodMiniObject, value: object): string => escapeControls(JSON.stringify(schema.parse(value)));

export const footerLine = (end: ChainEnd): string => lineOf(chainEndSchema, end);

/** The first line that is not as it was exported; lines are counted from 1. */
export type WrongLine = { readonly line: number; readonly problem: string };

export type VerifiedFile<Header> =
  | { readonly isWhole: true; readonly header: Header; readonly end: ChainEnd }
  | ({ readonly isWhole: false } & WrongLine);

const linkSchema = z.object({ number: z.int(), previous: z.string() });
type Link = z.infer<typeof linkSchema>;

/** Files whose header and records have these fields. `name`: what messages call a record. */
export const chainedLines = <Header extends z.ZodMiniObject, Fields extends z.core.$ZodLooseShape>(
  headerSchema: Header,
  fields: Fields,
  name: string,
) => {
  const recordSchema = z.strictObject({ ...linkSchema.shape, ...fields });

  const firstWrongRecord = (
    lines: readonly string[],
    records: readonly (Link | undefined)[],
  ): WrongLine | undefined => {
    for (const [index, record] of records.entries()) {
      const line = index + 2;
      if (record === undefined) return { line, problem: `it is not a ${name} as it was exported` };
      if (record.number !== index + 1) return { line, problem: numberProblem(record.number, index + 1, records) };
      if (record.previous !== hashOf(lines[index] ?? "")) return brokenLink(lines, records, index);
    }
    return undefined;
  };

  const numberProblem = (number: number, expected: number, records: readonly (Link | undefined)[]): string => {
    const elsewhere = records.findIndex((record) => record?.number === expected);
    if (elsewhere >= 0)
      return `${name} ${number} is here instead of ${name} ${expected}, which is on line ${elsewhere + 2}`;
    if (number < expected) return `${name} ${number} is on line ${number + 1} already: this line was added`;
    return number === expected + 1
      ? `${name} ${expected} was removed before it`
      : `${name}s ${expected} to ${number - 1} were removed before it`;
  };

  const wrongFooter = (lines: readonly string[], count: number, end: ChainEnd): WrongLine | undefined => {
    const line = lines.length;
    if (end.count !== count) {
      const problem = `the footer counts ${end.count} ${name}s, and the file has ${count}: the last ones were ${count < end.count ? "removed" : "added"}`;
      return { line, problem };
    }
    if (end.hash === hashOf(lines.at(-2) ?? "")) return undefined;
    return { line: line - 1, problem: "it was changed, or the hash in the footer was" };
  };

  return {
    headerLine: (header: z.input<Header>): ChainedLine => {
      const line = lineOf(headerSchema, header);
      return { line, end: { count: 0, hash: hashOf(line) } };
    },
    recordLine: ({ count, hash }: ChainEnd, record: object): ChainedLine => {
      const line = lineOf(recordSchema, { ...record, number: count + 1, previous: hash });
      return { line, end: { count: count + 1, hash: hashOf(line) } };
    },
    /** Verifies that the lines of a file are those that were exported, in their order. */
    verify: (text: string): VerifiedFile<z.output<Header>> => {
      const lines = text.replace(/\n$/, "").split("\n");
      const header = parsedLine(headerSchema, lines[0]);
      if (header === undefined) return { isWhole: false, line: 1, problem: "it is not the header of an export" };
      const end = parsedLine(chainEndSchema, lines.at(-1));
      const records = lines
        .slice(1, end === undefined ? undefined : -1)
        .map((line) => (parsedLine(recordSchema, line) === undefined ? undefined : parsedLink(line)));
      const wrong =
        firstWrongRecord(lines, records) ??
        (end === undefined
          ? { line: lines.length + 1, problem: "the footer is missing: the file was cut off" }
          : wrongFooter(lines, records.length, end));
      if (wrong !== undefined) return { isWhole: false, ...wrong };
      return { isWhole: true, header, end: chainEndSchema.parse(end) };
    },
  };
};

/** Undefined unless the line is exactly as it would have been written. */
const parsedLine = <Schema extends z.ZodMiniObject>(
  schema: Schema,
  line: string | undefined,
): z.output<Schema> | undefined => {
  try {
    const { data } = schema.safeParse(JSON.parse(line ?? ""));
    return data !== undefined && lineOf(schema, data) === line ? data : undefined;
  } catch {
    return undefined;
  }
};

const parsedLink = (line: string): Link => linkSchema.parse(JSON.parse(line));

/**
 * A line and the `previous` of the next one disagree. If the chain continues behind the next line, that one is intact,
 * so the line before it was changed.
 */
const brokenLink = (lines: readonly string[], records: readonly (Link | undefined)[], index: number): WrongLine => {
  const following = records[index + 1]?.previous ?? parsedLine(chainEndSchema, lines[index + 2])?.hash;
  const isIntact = following === hashOf(lines[index + 1] ?? "");
  return { line: isIntact ? index + 1 : index + 2, problem: "it was changed" };
};
